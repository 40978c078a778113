// Made by `npm run generate`.

import type { CallOptions, Calls } from '../calls.ts';
import type { CaudalEvent, CaudalEventWithDeliveries } from '../event.ts';
import type { List } from '../list.ts';
import type { ListEventsQuery } from './queries.ts';
import type { ReplayEvents, Replayed, ReplayedMany } from './schemas.ts';

/** Every final outcome, to read, to follow live and to have sent again. */
export class EventsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Get an event: `GET /events/{id}`. Needs the scope `events:read`.
   *
   * The event and what came of its deliveries, attempt by attempt.
   *
   * @param id Identifier of the event.
   * @throws ApiError, of its own with the codes `not_found`
   */
  get(id: string, options: CallOptions = {}): Promise<CaudalEventWithDeliveries> {
    return this.#calls.send('getEvent', { path: { id } }, options);
  }

  /**
   * List events: `GET /events`. Needs the scope `events:read`.
   *
   * Newest first, each with the body that its deliveries carry.
   *
   * @throws ApiError, of its own with the codes `cursor_invalid`
   */
  list(query: ListEventsQuery = {}, options: CallOptions = {}): List<CaudalEvent> {
    return this.#calls.list('listEvents', { query }, options);
  }

  /**
   * Replay an event: `POST /events/{id}/replay`. Needs the scope `events:write`.
   *
   * Delivers it again, under the same id and with the same body, to all enabled endpoints that want it, also those that were created later.
   *
   * @param id Identifier of the event.
   * @throws ApiError, of its own with the codes `not_found`, `outcome_unknown`
   */
  replay(id: string, options: CallOptions = {}): Promise<Replayed> {
    return this.#calls.send('replayEvent', { path: { id } }, options);
  }

  /**
   * Replay events: `POST /events/replay`. Needs the scope `events:write`.
   *
   * Delivers many events again, oldest first: those that failed, of events created since a moment, to the endpoints at which they failed; or all of a span of time, to all enabled endpoints that want them. A request goes on for three seconds: `nextAfter` says from where to go on.
   *
   * @throws ApiError, of its own with the codes `malformed_json`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  replayMany(body: ReplayEvents, options: CallOptions = {}): Promise<ReplayedMany> {
    return this.#calls.send('replayEvents', { body }, options);
  }
}
