import { setTimeout as sleep } from 'node:timers/promises';
import { transactionsUnderway } from '../../db/underway.ts';
import type { Deps } from '../../deps.ts';
import { eventIdsSince, eventsOfIds } from '../../events/event-list.store.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { ApiError } from '../../kit/errors.ts';
import { uuidFloor, uuidMs, uuidv7 } from '../../kit/ids.ts';
import type { Principal } from '../../organizations/organization.ts';
import { CommitHorizon, OVERLAP_MS } from './commit-horizon.ts';
import { eventOf, type RecordedEvent } from './read-events.ts';

const LOOK_EVERY_MS = 500;
/** Whoever has many events is looked after less often: a stream takes a tenth of a core at most. */
const REST_FACTOR = 9;
const IDS_AT_ONCE = 2000;
const EVENTS_AT_ONCE = 100;
/** An empty answer in between: the client knows that the stream lives, and we that the client does. */
const SIGN_OF_LIFE_MS = 15_000;
/** Then it ends, in order, and is resumed under a credential that is looked at anew. */
const LIFE_MS = 600_000;
const MOST_OF_ORGANIZATION = 10;
const MOST = 500;

export interface Followed {
  /** The last event the client has; null: from now on. */
  readonly after: string | null;
  /** Only events of this name. */
  readonly event: string | null;
  /** Asked again and again: a credential that was revoked ends the stream. */
  readonly allowed: () => Promise<boolean>;
}

export interface EventStream {
  /** Where to resume before there was an event; null when the client said after which one. */
  readonly beginning: string | null;
  /** As they are recorded; now and then none, as a sign of life. */
  readonly events: AsyncIterable<readonly RecordedEvent[]>;
  /** When it is to end: a client that does not read is cut off soon after. */
  readonly ended: AbortSignal;
  /** Its client is gone. */
  readonly close: () => void;
}

/** Streams of events under way in this process. */
export class EventStreams {
  readonly #deps: Deps;
  readonly #open = new Map<AbortController, string>();

  constructor(deps: Deps) {
    this.#deps = deps;
    deps.metrics.gauge('caudal_event_streams', 'Streams of events that are open.', () => this.#open.size);
  }

  /**
   * Events as they are recorded, each at least once: what an interrupted stream may have missed, a minute's worth, comes
   * again, and whoever reads drops by id.
   * @throws Fault `too_many_streams`
   */
  follow(principal: Principal, followed: Followed): EventStream {
    const { id } = principal.organization;
    const ofOrganization = [...this.#open.values()].filter((each) => each === id).length;
    if (ofOrganization >= MOST_OF_ORGANIZATION || this.#open.size >= MOST)
      throw new ApiError('too_many_streams');
    const ending = new AbortController();
    const close = () => {
      clearTimeout(timer);
      this.#open.delete(ending);
      ending.abort();
    };
    const timer = setTimeout(close, LIFE_MS);
    this.#open.set(ending, id);
    return {
      beginning: followed.after === null ? uuidv7(this.#deps.clock.now(), this.#deps.cell) : null,
      events: follow(this.#deps, principal, followed, ending.signal),
      ended: ending.signal,
      close,
    };
  }

  /** All end, in order: their clients resume elsewhere. */
  close(): void {
    for (const ending of this.#open.keys()) ending.abort();
  }
}

async function* follow(
  deps: Deps,
  principal: Principal,
  { after, event, allowed }: Followed,
  ended: AbortSignal,
): AsyncGenerator<readonly RecordedEvent[]> {
  const commitHorizon = new CommitHorizon();
  // Up to here all is read, for good; what is read beyond it is remembered.
  let position = uuidFloor(
    Math.min(after === null ? Infinity : uuidMs(after), deps.clock.now()) - OVERLAP_MS,
  );
  const seen = new Set<string>();
  if (after === null)
    for await (const ids of idsBeyond(deps, principal, position, event)) remember(seen, ids);
  yield [];
  let signOfLife = monotonicMs();
  while (!ended.aborted && (await allowed())) {
    const began = monotonicMs();
    const underway = await deps.read.read(principal.organization.id, transactionsUnderway);
    const settled = commitHorizon.upTo(deps.clock.now(), underway);
    for await (const ids of idsBeyond(deps, principal, position, event)) {
      const fresh = ids.filter((id) => !seen.has(id));
      for await (const events of eventsOf(deps, principal, fresh)) {
        yield events;
        signOfLife = monotonicMs();
        if (ended.aborted) return;
      }
      remember(
        seen,
        fresh.filter((id) => id > settled),
      );
    }
    if (settled > position) position = settled;
    for (const id of seen) if (id <= position) seen.delete(id);
    if (monotonicMs() - signOfLife > SIGN_OF_LIFE_MS) {
      yield [];
      signOfLife = monotonicMs();
    }
    const rest = Math.max(LOOK_EVERY_MS, (monotonicMs() - began) * REST_FACTOR);
    await sleep(rest, undefined, { signal: ended }).catch(() => undefined);
  }
}

/** All beyond a position, page by page. */
async function* idsBeyond(
  deps: Deps,
  { organization }: Principal,
  position: string,
  event: string | null,
): AsyncGenerator<readonly string[]> {
  for (let from: string | undefined = position; from !== undefined; ) {
    const after: string = from;
    const ids = await deps.read.read(organization.id, (tx) =>
      eventIdsSince(tx, organization.id, after, event, IDS_AT_ONCE),
    );
    yield ids;
    from = ids.length === IDS_AT_ONCE ? ids.at(-1) : undefined;
  }
}

async function* eventsOf(
  deps: Deps,
  { organization, secrets }: Principal,
  ids: readonly string[],
): AsyncGenerator<readonly RecordedEvent[]> {
  for (let at = 0; at < ids.length; at += EVENTS_AT_ONCE) {
    const rows = await deps.read.read(organization.id, (tx) =>
      eventsOfIds(tx, organization.id, ids.slice(at, at + EVENTS_AT_ONCE)),
    );
    yield rows.map((row) => eventOf(row, secrets.dataKey));
  }
}

function remember(seen: Set<string>, ids: readonly string[]): void {
  for (const id of ids) seen.add(id);
}
