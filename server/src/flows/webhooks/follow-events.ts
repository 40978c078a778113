import { setTimeout as sleep } from 'node:timers/promises';
import { readActiveTransactions } from '../../db/active-transactions.ts';
import type { Deps } from '../../deps.ts';
import { findEventsByIds, listEventIdsAfter } from '../../events/event-list.store.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidFloor, uuidMs, uuidv7 } from '../../kit/ids.ts';
import type { Principal } from '../../organizations/organization.ts';
import { CommitHorizon, OVERLAP_MS } from './commit-horizon.ts';
import { type RecordedEvent, recordedEventFromRow } from './read-events.ts';

const POLL_EVERY_MS = 500;
/** A stream with many events polls less often: it uses at most a tenth of a core. */
const REST_FACTOR = 9;
const ID_PAGE_SIZE = 2000;
const EVENT_PAGE_SIZE = 100;
/** Interval of empty messages, by which client and server detect a dead connection. */
const HEARTBEAT_MS = 15_000;
/** The stream ends after this, and the client resumes with a credential that is checked again. */
const MAX_DURATION_MS = 600_000;
const MAX_STREAMS_PER_ORGANIZATION = 10;
const MAX_STREAMS = 500;

export interface StreamOptions {
  /** The last event the client received; null: only new events. */
  readonly after: string | null;
  /** Only events of this type; null: all. */
  readonly event: string | null;
  /** Checked on every poll: revoking the credential ends the stream. */
  readonly allowed: () => Promise<boolean>;
}

export interface EventStream {
  /** Resume position until the first event; null when the client sent its own position. */
  readonly startPosition: string | null;
  /** Events as they are recorded; an empty array is a heartbeat. */
  readonly events: AsyncIterable<readonly RecordedEvent[]>;
  /** Aborted when the stream ends: the server disconnects a client that does not read soon after. */
  readonly ended: AbortSignal;
  /** Called when the client disconnects. */
  readonly close: () => void;
}

/** Open event streams of this process. */
export class EventStreams {
  readonly #deps: Deps;
  readonly #open = new Map<AbortController, string>();

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.metrics.gauge('caudal_event_streams', 'Open event streams.', () => this.#open.size);
  }

  /**
   * Streams events as they are recorded, each at least once: a resumed stream repeats the last minute, and clients drop
   * duplicates by id.
   * @throws ApiError `too_many_streams`
   */
  follow(principal: Principal, followed: StreamOptions): EventStream {
    const { id } = principal.organization;
    const ofOrganization = [...this.#open.values()].filter((each) => each === id).length;
    if (ofOrganization >= MAX_STREAMS_PER_ORGANIZATION || this.#open.size >= MAX_STREAMS)
      throw new ApiError('too_many_streams');
    const ending = new AbortController();
    const close = () => {
      clearTimeout(timer);
      this.#open.delete(ending);
      ending.abort();
    };
    const timer = setTimeout(close, MAX_DURATION_MS);
    this.#open.set(ending, id);
    return {
      startPosition: followed.after === null ? uuidv7(this.#deps.clock.now(), this.#deps.cell) : null,
      events: follow(this.#deps, principal, followed, ending.signal),
      ended: ending.signal,
      close,
    };
  }

  /** Ends all streams cleanly; the clients resume at another process. */
  close(): void {
    for (const ending of this.#open.keys()) ending.abort();
  }
}

async function* follow(
  deps: Deps,
  principal: Principal,
  { after, event, allowed }: StreamOptions,
  ended: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  const commitHorizon = new CommitHorizon();
  // All events up to `position` were sent; `seen` has the ids sent after it.
  let position = uuidFloor(
    Math.min(after === null ? Infinity : uuidMs(after), deps.clock.now()) - OVERLAP_MS,
  );
  const seen = new Set<string>();
  if (after === null)
    for await (const ids of readIdsAfter(deps, principal, position, event)) remember(seen, ids);
  yield [];
  let lastSentAt = monotonicMs();
  while (!ended.aborted && (await allowed())) {
    const startedAt = monotonicMs();
    const underway = await deps.read.read(principal.organization.id, readActiveTransactions);
    const horizon = commitHorizon.upTo(deps.clock.now(), underway);
    for await (const ids of readIdsAfter(deps, principal, position, event)) {
      const fresh = ids.filter((id) => !seen.has(id));
      for await (const events of readEvents(deps, principal, fresh)) {
        yield events;
        lastSentAt = monotonicMs();
        if (ended.aborted) return;
      }
      remember(
        seen,
        fresh.filter((id) => id > horizon),
      );
    }
    if (horizon > position) position = horizon;
    for (const id of seen) if (id <= position) seen.delete(id);
    if (monotonicMs() - lastSentAt > HEARTBEAT_MS) {
      yield [];
      lastSentAt = monotonicMs();
    }
    const rest = Math.max(POLL_EVERY_MS, (monotonicMs() - startedAt) * REST_FACTOR);
    await sleep(rest, undefined, { signal: ended }).catch(() => undefined);
  }
}

/** Reads all ids after a position, page by page. */
async function* readIdsAfter(
  deps: Deps,
  { organization }: Principal,
  position: string,
  event: string | null,
): AsyncGenerator<readonly string[]> {
  for (let from: string | undefined = position; from !== undefined; ) {
    const after: string = from;
    const ids = await deps.read.read(organization.id, (tx) =>
      listEventIdsAfter(tx, organization.id, after, event, ID_PAGE_SIZE),
    );
    yield ids;
    from = ids.length === ID_PAGE_SIZE ? ids.at(-1) : undefined;
  }
}

async function* readEvents(
  deps: Deps,
  { organization, secrets }: Principal,
  ids: readonly string[],
): AsyncGenerator<readonly RecordedEvent[]> {
  for (let at = 0; at < ids.length; at += EVENT_PAGE_SIZE) {
    const rows = await deps.read.read(organization.id, (tx) =>
      findEventsByIds(tx, organization.id, ids.slice(at, at + EVENT_PAGE_SIZE)),
    );
    yield rows.map((row) => recordedEventFromRow(row, secrets.dataKey));
  }
}

function remember(seen: Set<string>, ids: readonly string[]): void {
  for (const id of ids) seen.add(id);
}
