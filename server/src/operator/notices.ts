import type { SystemDeps } from '../deps.ts';
import { readUnreadable } from '../flows/operations/read-notices.system.ts';
import type { Output } from './options.ts';

const MAX_LISTED = 100;

export async function noticesUnreadable(deps: SystemDeps): Promise<Output> {
  const notices = await readUnreadable(deps, MAX_LISTED);
  const lines = notices.map(
    (notice) =>
      `${notice.id}  ${notice.receivedAt.toISOString()}  ${notice.rail.padEnd(5)}  ${notice.message}`,
  );
  const cut = notices.length === MAX_LISTED ? `\n(the newest ${MAX_LISTED})` : '';
  return { json: notices, text: lines.join('\n') + cut || 'There are no unreadable notices.' };
}
