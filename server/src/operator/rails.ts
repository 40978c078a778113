import type { SystemDeps } from '../deps.ts';
import { listRailPauses, pauseRail, resumeRail } from '../flows/operations/pause-rail.ts';
import { isUuid } from '../kit/ids.ts';
import { RAILS, type Rail } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

const REASON = /^.{1,500}$/;

export async function railsPause(deps: SystemDeps, options: Options): Promise<Output> {
  const reach = reachOf(options);
  // Required first, so that a missing one is called missing.
  options.required('reason');
  const cause = {
    reason: options.matching('reason', REASON, 'a text of at most 500 letters', ''),
    pausedBy: options.by,
  };
  if (!(await pauseRail(deps, reach, cause)))
    throw new Error('there is no such organization (org list shows them)');
  return {
    json: { ...reach, ...cause, paused: true },
    text: `${reach.rail} is paused for ${whom(reach.organizationId)} from a second on: payins are answered 503 rail_paused, payouts are taken and wait, and no new order leaves.
What was accepted before may still be sent. Notices are taken, asking and closing go on. Waiting orders go on after: caudal rails resume`,
  };
}

export async function railsResume(deps: SystemDeps, options: Options): Promise<Output> {
  const reach = reachOf(options);
  if (!(await resumeRail(deps, reach, options.by)))
    throw new Error(
      `${reach.rail} is not paused for ${whom(reach.organizationId)} (rails list shows what is)`,
    );
  // One brake off may leave the other on: whoever resumed must not believe that payments flow.
  const left = (await listRailPauses(deps)).filter((pause) => pause.rail === reach.rail).length;
  return {
    json: { ...reach, paused: false, pausesLeft: left },
    text: `${reach.rail} is resumed for ${whom(reach.organizationId)}.${left > 0 ? ` ${left} other pauses of this rail still stand (rails list).` : ''}`,
  };
}

export async function railsList(deps: SystemDeps): Promise<Output> {
  const pauses = await listRailPauses(deps);
  const lines = pauses.map(
    ({ rail, organizationId, reason, pausedBy, pausedAt }) =>
      `${rail.padEnd(5)}  ${whom(organizationId).padEnd(36)}  since ${pausedAt.toISOString()}  by ${pausedBy}: ${reason}`,
  );
  return { json: pauses, text: lines.join('\n') || 'No rail is paused.' };
}

function reachOf(options: Options): { rail: Rail; organizationId: string | null } {
  const name = options.required('rail');
  const rail = RAILS.find((each) => each === name);
  if (!rail) throw new UsageError(`--rail: "${name}" is none of ${RAILS.join(', ')}`);
  const id = options.matching('org', /^.+$/, 'the id of an organization (org list shows them)', '');
  if (id !== '' && !isUuid(id))
    throw new UsageError('--org must be the id of an organization (org list shows them)');
  return { rail, organizationId: id === '' ? null : id };
}

function whom(organizationId: string | null): string {
  return organizationId ?? 'every organization';
}
