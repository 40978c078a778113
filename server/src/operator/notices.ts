import type { SystemDeps } from '../deps.ts';
import { readUnreadable } from '../flows/operations/read-notices.ts';
import type { Output } from './options.ts';

const MOST_LISTED = 100;

export async function noticesUnreadable(deps: SystemDeps): Promise<Output> {
  const notices = await readUnreadable(deps, MOST_LISTED);
  const lines = notices.map(
    (notice) =>
      `${notice.id}  ${notice.receivedAt.toISOString()}  ${notice.rail.padEnd(5)}  ${notice.message}`,
  );
  const cut = notices.length === MOST_LISTED ? `\n(the newest ${MOST_LISTED})` : '';
  return { json: notices, text: lines.join('\n') + cut || 'Every message was understood.' };
}
