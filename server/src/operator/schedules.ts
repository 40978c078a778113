import type { SystemDeps } from '../deps.ts';
import { listSchedules, runSchedule } from '../flows/operations/run-schedules.system.ts';
import { type Options, type Output, UsageError } from './options.ts';

export async function schedulesList(deps: SystemDeps): Promise<Output> {
  const schedules = await listSchedules(deps);
  const lines = schedules.map(({ name, cron, timezone, lastSuccess, description }) => {
    const last = lastSuccess ? `last success ${lastSuccess.toISOString()}` : 'no success yet';
    return `${name.padEnd(14)}  ${cron.padEnd(12)}  ${timezone}  ${last}\n                ${description}`;
  });
  return {
    json: schedules.map(({ name, cron, timezone, lastSuccess, description }) => ({
      name,
      cron,
      timezone,
      lastSuccess,
      why: description,
    })),
    text: lines.join('\n'),
  };
}

export async function schedulesRun(deps: SystemDeps, options: Options): Promise<Output> {
  const [name] = options.args;
  if (name === undefined)
    throw new UsageError('schedules run needs the name of a schedule (see schedules list)');
  if (!(await runSchedule(deps, options.by, name)))
    throw new UsageError(`there is no schedule "${name}" (see schedules list)`);
  return { json: { schedule: name, done: true }, text: `${name}: done.` };
}
