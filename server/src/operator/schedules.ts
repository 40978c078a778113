import type { SystemDeps } from '../deps.ts';
import { listSchedules, runSchedule } from '../flows/operations/run-schedules.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function schedulesList(deps: SystemDeps): Promise<Output> {
  const schedules = await listSchedules(deps);
  const lines = schedules.map(({ name, cron, timezone, lastSuccess, why }) => {
    const last = lastSuccess ? `last done ${lastSuccess.toISOString()}` : 'not done yet';
    return `${name.padEnd(14)}  ${cron.padEnd(12)}  ${timezone}  ${last}\n                ${why}`;
  });
  return {
    json: schedules.map(({ name, cron, timezone, lastSuccess, why }) => ({
      name,
      cron,
      timezone,
      lastSuccess,
      why,
    })),
    text: lines.join('\n'),
  };
}

export async function schedulesRun(deps: SystemDeps, options: Options): Promise<Output> {
  const [name] = options.words;
  if (name === undefined) throw new UsageError('schedules run needs a name (schedules list shows them)');
  if (!(await runSchedule(deps, options.by, name)))
    throw new UsageError(`there is no schedule "${name}" (schedules list shows them)`);
  return { json: { schedule: name, done: true }, text: `${name}: done.` };
}
