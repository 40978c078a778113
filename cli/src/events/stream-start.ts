import type { Caudal, CaudalEvent } from '@caudal/sdk';
import { isId } from '../requests/resource-id.ts';
import { parseTimestamp } from '../requests/time.ts';

/** Where a stream starts, and a filter for the events it resends: a resumed stream starts one minute early. */
export interface StreamStart {
  readonly lastEventId: string;
  readonly isWanted: (event: CaudalEvent) => boolean;
}

const LATEST = 100;
/** Before any event, but late enough that one minute earlier still has a valid id. */
const FIRST_DAY_MS = 86_400_000;

/**
 * Starts from now, determined by the existing events instead of a clock: every event recorded after this request is
 * delivered, even if the stream connects later.
 */
export async function startFromNow(caudal: Caudal, signal: AbortSignal): Promise<StreamStart> {
  const { data } = await caudal.events.list({ pageSize: LATEST }, { signal });
  const known = new Set(data.map(({ id }) => id));
  const newest = data[0]?.id;
  // Everything older than the listed events is old.
  const oldest = data.length === LATEST ? (data.at(-1)?.id ?? '') : '';
  return {
    lastEventId: newest ?? idAt(FIRST_DAY_MS),
    isWanted: ({ id }) => !known.has(id) && id > oldest,
  };
}

/** @param since a duration ago, a timestamp, or an event id, which is included */
export async function startFrom(caudal: Caudal, since: string, signal: AbortSignal): Promise<StreamStart> {
  if (isId(since)) {
    const { id, createdAt } = await caudal.events.get(since, { signal });
    // Starts one millisecond earlier, because the stream excludes the event it resumes after.
    return { lastEventId: idAt(Date.parse(createdAt) - 1), isWanted: (event) => event.id >= id };
  }
  const sinceMs = parseTimestamp('since', since, Date.now()).getTime();
  return {
    lastEventId: idAt(Math.max(FIRST_DAY_MS, sinceMs)),
    isWanted: ({ createdAt }) => Date.parse(createdAt) >= sinceMs,
  };
}

/** The lowest event id (UUIDv7) of a millisecond. */
function idAt(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
