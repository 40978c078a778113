import type { Calls } from './calls.ts';
import { ApiError, CaudalError, UnexpectedAnswerError } from './errors.ts';
import type { CaudalEvent, EventNamed } from './event.ts';
import type { EventName } from './generated/schemas.ts';
import type { Signal } from './platform.ts';
import { idAt, SeenEvents, timeOf } from './seen-events.ts';
import { StreamConnection } from './stream-connection.ts';
import { backoffMs, pause } from './waiting.ts';

export interface StreamOptions<Name extends string = EventName> {
  /** Only events of this name. */
  event?: Name | undefined;
  /**
   * The last event you have: the stream goes on after it. Events of the minute before it may come again, for an event is
   * numbered before it is recorded. Left out, the stream begins now.
   */
  lastEventId?: string | undefined;
  /** Ends the stream, quietly. */
  signal?: Signal | undefined;
  /** Repeats of the first connection before it throws; once connected it never gives up. The client's by default. */
  maxRetries?: number | undefined;
  /** Connected, the first time and after every break: from here on nothing is missed. */
  onConnect?: (() => void) | undefined;
  /** The connection ended and is made again after `waitMs`. `error` is null where it ended in order, as each does after ten minutes. */
  onBreak?: ((error: CaudalError | null, waitMs: number) => void) | undefined;
}

const FIRST_WAIT_MS = 250;
const MOST_WAIT_MS = 5_000;
/** A resumed stream begins a minute before the event it is resumed after. */
const OVERLAP_MS = 65_000;
const MOST_BEFORE = 1_000;

/**
 * Events as they are recorded, each once, over any number of broken connections.
 * @throws ApiError when the credential is not accepted (401, 403) or the request is wrong
 */
export async function* eventStream<Name extends string>(
  calls: Calls,
  options: StreamOptions<Name>,
): AsyncGenerator<EventNamed<Name>, void, undefined> {
  const { signal, maxRetries = calls.defaults.maxRetries } = options;
  const seen = new SeenEvents();
  const began = await beginning(calls, options, seen).catch((error: unknown) => {
    if (signal?.aborted) return null;
    throw error;
  });
  for (let failures = 0; ; ) {
    if (signal?.aborted || began === null) return;
    let error: CaudalError | null = null;
    const connection = new StreamConnection(calls, signal, failures + 1);
    try {
      const nowMs = await connection.open(options.event, seen.newest ?? began.emptyAt);
      // Broken before the first event there ever was, it goes on from here.
      began.emptyAt ??= idAt(nowMs);
      failures = 0;
      options.onConnect?.();
      for await (const event of connection.events())
        if (timeOf(event.id) >= began.fromMs && seen.add(event.id)) yield event as EventNamed<Name>;
    } catch (thrown) {
      if (!(thrown instanceof CaudalError)) throw thrown;
      if (signal?.aborted) return;
      error = thrown;
      failures += 1;
      if (!mayPass(error) || (began.emptyAt === null && failures > maxRetries)) throw error;
    } finally {
      connection.close();
    }
    const askedMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
    const waitMs = Math.max(askedMs, backoffMs(failures + 1, FIRST_WAIT_MS, MOST_WAIT_MS));
    options.onBreak?.(error, waitMs);
    await pause(waitMs, signal);
  }
}

interface Beginning {
  /** Events numbered earlier were there before. */
  readonly fromMs: number;
  /** Where to resume while there is no event yet; null until the first connection. */
  emptyAt: string | null;
}

/**
 * What is there already is remembered as seen, as far back as a resumed stream reaches: by the time alone nobody could
 * tell it from what is new, for an event is numbered before it is recorded.
 */
async function beginning(calls: Calls, options: StreamOptions<string>, seen: SeenEvents): Promise<Beginning> {
  const { event, lastEventId, signal, maxRetries } = options;
  if (lastEventId !== undefined) {
    seen.add(lastEventId);
    return { fromMs: 0, emptyAt: null };
  }
  const parts = { query: { event, pageSize: 100 } };
  const events = calls.list<CaudalEvent>('listEvents', parts, { signal, maxRetries }, 'events.stream');
  let count = 0;
  for await (const { id } of events) {
    const newestMs = timeOf(seen.newest ?? id);
    if (timeOf(id) < newestMs - OVERLAP_MS) break;
    seen.add(id);
    count += 1;
    if (count === MOST_BEFORE) return { fromMs: timeOf(id), emptyAt: null };
  }
  return { fromMs: 0, emptyAt: null };
}

/** Whether trying again can help. */
function mayPass(error: CaudalError): boolean {
  if (error instanceof ApiError || error instanceof UnexpectedAnswerError)
    return error.status === 429 || error.status >= 500;
  return true;
}
