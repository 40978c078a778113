import { checkSignal } from './call-options.ts';
import type { Calls } from './calls.ts';
import { ApiError, CaudalError, UnexpectedAnswerError } from './errors.ts';
import type { EventNamed } from './event.ts';
import type { CaudalEvent, EventName } from './generated/schemas.ts';
import { checkFunction, checkNames, checkRetries } from './option-checks.ts';
import type { Signal } from './platform.ts';
import { idForTimestamp, SeenEvents, timestampFromId } from './seen-events.ts';
import { StreamConnection } from './stream-connection.ts';
import { backoffMs, pause } from './waiting.ts';

export interface StreamOptions<Name extends string = EventName> {
  /** Only events with this name. */
  event?: Name | undefined;
  /**
   * Id of the last event you have: the stream continues after it. Events of the minute before it may be sent again,
   * because an event gets its id before it is committed. By default the stream starts now.
   */
  lastEventId?: string | undefined;
  /** Ends the stream without an error. */
  signal?: Signal | undefined;
  /** Retries of the first connection before it throws; once connected, the stream reconnects forever. By default the client's. */
  maxRetries?: number | undefined;
  /** Called after every connect and reconnect: from here on no event is missed. */
  onConnect?: (() => void) | undefined;
  /** Called when the connection ended; it reconnects after `waitMs`. `error` is null when the server closed it normally, as it does every ten minutes. */
  onBreak?: ((error: CaudalError | null, waitMs: number) => void) | undefined;
}

const FIRST_BACKOFF_MS = 250;
const MAX_BACKOFF_MS = 5_000;
/** A resumed stream starts one minute before the event it resumes after. */
const OVERLAP_MS = 65_000;
const MAX_EXISTING_EVENTS = 1_000;

/**
 * Yields events as they are recorded, each once, across reconnects.
 * @throws ApiError when the credential is rejected (401, 403) or the request is invalid
 */
export async function* eventStream<Name extends string>(
  calls: Calls,
  options: StreamOptions<Name>,
): AsyncGenerator<EventNamed<Name>, void, undefined> {
  checkStreamOptions(options);
  const { signal, maxRetries = calls.defaults.maxRetries } = options;
  const seen = new SeenEvents();
  const start = await findStart(calls, options, seen).catch((error: unknown) => {
    if (signal?.aborted) return null;
    throw error;
  });
  for (let failures = 0; ; ) {
    if (signal?.aborted || start === null) return;
    let error: CaudalError | null = null;
    let waitMs = 0;
    const connection = new StreamConnection(calls, signal, failures + 1);
    try {
      const nowMs = await connection.open(options.event, seen.newest ?? start.emptyAt);
      // With no event yet, a reconnect resumes from this time.
      start.emptyAt ??= idForTimestamp(nowMs);
      failures = 0;
      options.onConnect?.();
      for await (const event of connection.events())
        if (timestampFromId(event.id) >= start.fromMs && seen.add(event.id)) yield event as EventNamed<Name>;
    } catch (caught) {
      if (!(caught instanceof CaudalError)) throw caught;
      error = caught;
      failures += 1;
      const fails = !isRetryable(error) || (start.emptyAt === null && failures > maxRetries);
      const ends = signal?.aborted === true || fails;
      waitMs = reconnectDelayMs(error, failures);
      connection.reportFailure(error, ends ? null : waitMs);
      if (signal?.aborted) return;
      if (fails) throw error;
    } finally {
      connection.close();
    }
    if (!error) waitMs = reconnectDelayMs(null, failures);
    options.onBreak?.(error, waitMs);
    await pause(waitMs, signal);
  }
}

function reconnectDelayMs(error: CaudalError | null, failures: number): number {
  const retryAfterMs = error instanceof ApiError ? (error.retryAfterMs ?? 0) : 0;
  return Math.max(retryAfterMs, backoffMs(failures + 1, FIRST_BACKOFF_MS, MAX_BACKOFF_MS));
}

const NAMES: Readonly<Record<keyof StreamOptions, true>> = {
  event: true,
  lastEventId: true,
  signal: true,
  maxRetries: true,
  onConnect: true,
  onBreak: true,
};

function checkStreamOptions(options: StreamOptions<string>): void {
  checkNames('events.stream', options, Object.keys(NAMES));
  if (options.maxRetries !== undefined) checkRetries(options.maxRetries);
  checkSignal(options.signal);
  checkFunction('onConnect', options.onConnect);
  checkFunction('onBreak', options.onBreak);
}

interface StreamStart {
  /** Events with an earlier id existed before the stream. */
  readonly fromMs: number;
  /** Id to resume from while there is no event; null until the first connection. */
  emptyAt: string | null;
}

/**
 * Marks existing events as seen, as far back as a resumed stream starts. Their time alone cannot separate them from new
 * events, because an event gets its id before it is committed.
 */
async function findStart(
  calls: Calls,
  options: StreamOptions<string>,
  seen: SeenEvents,
): Promise<StreamStart> {
  const { event, lastEventId, signal, maxRetries } = options;
  if (lastEventId !== undefined) {
    seen.add(lastEventId);
    return { fromMs: 0, emptyAt: null };
  }
  const parts = { query: { event, pageSize: 100 } };
  const events = calls.list<CaudalEvent>('listEvents', parts, { signal, maxRetries }, 'events.stream');
  let count = 0;
  for await (const { id } of events) {
    const newestMs = timestampFromId(seen.newest ?? id);
    if (timestampFromId(id) < newestMs - OVERLAP_MS) break;
    seen.add(id);
    count += 1;
    if (count === MAX_EXISTING_EVENTS) return { fromMs: timestampFromId(id), emptyAt: null };
  }
  return { fromMs: 0, emptyAt: null };
}

/** Whether a retry can succeed. */
function isRetryable(error: CaudalError): boolean {
  if (error instanceof ApiError || error instanceof UnexpectedAnswerError)
    return error.status === 429 || error.status >= 500;
  return true;
}
