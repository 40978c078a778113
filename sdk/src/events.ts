import type { Calls } from './calls.ts';
import type { EventNamed } from './event.ts';
import { eventStream, type StreamOptions } from './event-stream.ts';
import { EventsOperations } from './generated/events.ts';
import type { CaudalEvent, EventName } from './generated/schemas.ts';

export class Events extends EventsOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    super(calls);
    this.#calls = calls;
  }

  /**
   * Follow events live: `GET /events/stream`. Needs the scope `events:read`.
   *
   * Reconnects automatically and resumes: no event is missed and, within this stream, none is repeated. Ends when
   * `signal` aborts.
   * @throws ApiError when the credential is rejected, with the specific code `too_many_streams`
   * @example
   * for await (const event of caudal.events.stream()) console.log(event.event, event.data.reference);
   */
  stream(options?: StreamOptions & { event?: undefined }): AsyncGenerator<CaudalEvent, void, undefined>;
  stream<Name extends EventName>(
    options: StreamOptions<Name>,
  ): AsyncGenerator<EventNamed<Name>, void, undefined>;
  stream(options: StreamOptions = {}): AsyncGenerator<CaudalEvent, void, undefined> {
    return eventStream(this.#calls, options);
  }
}
