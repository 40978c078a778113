import type { SystemDeps } from '../deps.ts';
import { readGuard } from '../flows/operations/guard-sending.system.ts';
import { listRailPauses, pauseRail, resumeRail } from '../flows/operations/pause-rail.system.ts';
import { isUuid } from '../kit/ids.ts';
import { RAILS, type Rail } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

const REASON = /^.{1,500}$/;

export async function railsPause(deps: SystemDeps, options: Options): Promise<Output> {
  const scope = readScope(options);
  // Checked first, so that the error for a missing reason says that it is missing.
  options.required('reason');
  const cause = {
    reason: options.matching('reason', REASON, 'a text of at most 500 characters', ''),
    pausedBy: options.by,
  };
  if (!(await pauseRail(deps, scope, cause))) throw new Error('there is no such organization (see org list)');
  return {
    json: { ...scope, ...cause, paused: true },
    text: `${scope.rail} is paused for ${describeScope(scope.organizationId)}, effective within a second: payins are rejected with 503 rail_paused, payouts are accepted and wait, and no new orders are sent.
Orders accepted before may still be sent. Notices, polling and closing continue. To send the waiting orders: caudal rails resume`,
  };
}

export async function railsResume(deps: SystemDeps, options: Options): Promise<Output> {
  const scope = readScope(options);
  if (!(await resumeRail(deps, scope, options.by)))
    throw new Error(
      `${scope.rail} is not paused for ${describeScope(scope.organizationId)} (see rails list)`,
    );
  // Other pauses of the rail may remain: the operator must know that payments may still be blocked.
  const left = (await listRailPauses(deps)).filter((pause) => pause.rail === scope.rail).length;
  return {
    json: { ...scope, paused: false, pausesLeft: left },
    text: `${scope.rail} is resumed for ${describeScope(scope.organizationId)}.${left > 0 ? ` ${left} other pauses of this rail remain (see rails list).` : ''}`,
  };
}

export async function railsList(deps: SystemDeps): Promise<Output> {
  const pauses = await listRailPauses(deps);
  const lines = pauses.map(
    ({ rail, organizationId, reason, pausedBy, pausedAt }) =>
      `${rail.padEnd(5)}  ${describeScope(organizationId).padEnd(36)}  since ${pausedAt.toISOString()}  by ${pausedBy}: ${reason}`,
  );
  const { hold } = await readGuard(deps);
  if (hold !== null)
    lines.unshift('All sending is paused: see caudal doctor, then caudal rails reconcile-after-restore');
  return { json: pauses, text: lines.join('\n') || 'No rail is paused.' };
}

function readScope(options: Options): { rail: Rail; organizationId: string | null } {
  const name = options.required('rail');
  const rail = RAILS.find((each) => each === name);
  if (!rail) throw new UsageError(`--rail: "${name}" is not one of ${RAILS.join(', ')}`);
  const id = options.matching('org', /^.+$/, 'the id of an organization (see org list)', '');
  if (id !== '' && !isUuid(id))
    throw new UsageError('--org must be the id of an organization (see org list)');
  return { rail, organizationId: id === '' ? null : id };
}

function describeScope(organizationId: string | null): string {
  return organizationId ?? 'every organization';
}
