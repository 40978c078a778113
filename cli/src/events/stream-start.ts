import type { Caudal, CaudalEvent } from '@caudal/sdk';
import { isId } from './resource-id.ts';
import { readMoment } from './time.ts';

/** Where a stream begins, and which of what it brings is wanted: it begins a minute early. */
export interface StreamStart {
  readonly lastEventId: string;
  readonly isWanted: (event: CaudalEvent) => boolean;
}

const LATEST = 100;
/** Before any event of anybody, and not so early that a minute before it has no number. */
const FIRST_DAY_MS = 86_400_000;

/**
 * From now on, by what has happened and not by a clock: whatever is recorded after this question is wanted, also when
 * the connection is only made later.
 */
export async function fromNow(caudal: Caudal, signal: AbortSignal): Promise<StreamStart> {
  const { data } = await caudal.events.list({ pageSize: LATEST }, { signal });
  const known = new Set(data.map(({ id }) => id));
  const newest = data[0]?.id;
  // Further back than what was listed, all is old.
  const oldest = data.length === LATEST ? (data.at(-1)?.id ?? '') : '';
  return {
    lastEventId: newest ?? idAt(FIRST_DAY_MS),
    isWanted: ({ id }) => !known.has(id) && id > oldest,
  };
}

/** @param since how long ago, a moment, or an event: then what came after it and itself */
export async function fromThen(caudal: Caudal, since: string, signal: AbortSignal): Promise<StreamStart> {
  if (isId(since)) {
    const { id, createdAt } = await caudal.events.get(since, { signal });
    // Asked for from a moment earlier, or the stream would take it for one we have.
    return { lastEventId: idAt(Date.parse(createdAt) - 1), isWanted: (event) => event.id >= id };
  }
  const moment = readMoment('since', since, Date.now()).getTime();
  return {
    lastEventId: idAt(Math.max(FIRST_DAY_MS, moment)),
    isWanted: ({ createdAt }) => Date.parse(createdAt) >= moment,
  };
}

/** An id of that moment, before any other of its millisecond: ids carry their time. */
function idAt(ms: number): string {
  const time = Math.floor(ms).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
