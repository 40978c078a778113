// Made by `npm run generate`.

import type { ApiPromise } from '../api-promise.ts';
import type { CallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListEventsQuery } from './queries.ts';
import type {
  CaudalEvent,
  CaudalEventWithDeliveries,
  ReplayEvents,
  Replayed,
  ReplayedMany,
} from './schemas.ts';

/** Events of final outcomes: list, stream and replay them. */
export class EventsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * Get an event: `GET /events/{id}`. Needs the scope `events:read`.
   *
   * The event and its deliveries with all attempts.
   *
   * @param id Identifier of the event.
   * @throws ApiError, with the specific codes `not_found`
   */
  get(id: string, options: CallOptions = {}): ApiPromise<CaudalEventWithDeliveries> {
    return this.#calls.send('getEvent', { path: { id } }, options);
  }

  /**
   * List events: `GET /events`. Needs the scope `events:read`.
   *
   * Newest first, each with the same body as its deliveries.
   *
   * @throws ApiError, with the specific codes `cursor_invalid`
   */
  list(query: ListEventsQuery = {}, options: CallOptions = {}): List<CaudalEvent> {
    return this.#calls.list('listEvents', { query }, options);
  }

  /**
   * Replay an event: `POST /events/{id}/replay`. Needs the scope `events:write`.
   *
   * Delivers the event again, with the same id and body, to all enabled endpoints that subscribe to it, including endpoints created after the event.
   *
   * @param id Identifier of the event.
   * @throws ApiError, with the specific codes `malformed_json`, `not_found`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  replay(id: string, options: CallOptions = {}): ApiPromise<Replayed> {
    return this.#calls.send('replayEvent', { path: { id } }, options);
  }

  /**
   * Replay events: `POST /events/replay`. Needs the scope `events:write`.
   *
   * Delivers many events again, oldest first. With `failedSince`, it replays events with failed deliveries to the endpoints where they failed. With `createdFrom` and `createdTo`, it replays all events of the range to all enabled endpoints that subscribe to them. A request runs for at most about three seconds; if `nextAfter` is set, repeat the request to continue.
   *
   * @throws ApiError, with the specific codes `malformed_json`, `payload_too_large`, `unsupported_media_type`, `outcome_unknown`
   */
  replayMany(body: ReplayEvents, options: CallOptions = {}): ApiPromise<ReplayedMany> {
    return this.#calls.send('replayEvents', { body }, options);
  }
}
