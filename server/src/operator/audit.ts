import type { SystemDeps } from '../deps.ts';
import { readActions } from '../flows/read-actions.ts';
import type { Output } from './options.ts';

const MOST_LISTED = 1000;

export async function auditList(deps: SystemDeps): Promise<Output> {
  const actions = await readActions(deps, MOST_LISTED);
  const lines = actions.map(
    ({ at, operator, action, resourceId, note }) =>
      `${at.toISOString()}  ${action}  ${resourceId}  by ${operator}${note === null ? '' : `: ${note}`}`,
  );
  return { json: actions, text: lines.join('\n') || 'No operator has decided about money yet.' };
}
