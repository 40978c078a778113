import { until } from '../harness/until.ts';

export interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface Reading {
  /** As it goes over the wire, with its question mark. */
  readonly query?: string;
  readonly lastEventId?: string;
}

/** A client that follows `GET /events/stream` over real HTTP, and keeps what came. */
export class EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** In the order of arrival. */
  readonly events: StreamedEvent[] = [];
  /** From where to resume while nothing has come. */
  beginning: string | null = null;
  /** Lines that say only that the stream is alive. */
  signsOfLife = 0;
  /** How it ended: by the server in order, or not. */
  readonly ended: Promise<'in order' | 'broken'>;
  readonly #leave: AbortController;

  private constructor(response: Response, leave: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#leave = leave;
    this.ended = this.#read(response).then(
      () => 'in order',
      () => 'broken',
    );
  }

  static async open(
    url: string,
    apiKey: string,
    { query = '', lastEventId }: Reading = {},
  ): Promise<EventReader> {
    const leave = new AbortController();
    const response = await fetch(`${url}/events/stream${query}`, {
      headers: {
        'x-api-key': apiKey,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      signal: leave.signal,
    });
    return new EventReader(response, leave);
  }

  get ids(): string[] {
    return this.events.map(({ id }) => id);
  }

  /** From its first sign of life on it misses nothing. */
  async follows(): Promise<this> {
    await until('the stream has begun', () => Promise.resolve(this.signsOfLife > 0));
    return this;
  }

  async receives(...ids: readonly string[]): Promise<void> {
    await until(`${ids.length} events are streamed`, () =>
      Promise.resolve(ids.every((id) => this.ids.includes(id))),
    );
  }

  /** As a client that vanishes: the connection is dropped. */
  leave(): void {
    this.#leave.abort();
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) this.#take(frame);
    }
    if (text !== '' && response.status === 200) throw new Error('it ended inside a frame');
  }

  #take(frame: string): void {
    if (frame.startsWith(':')) this.signsOfLife += 1;
    const fields = new Map(
      frame
        .split('\n')
        .map((line): [string, string] => [
          line.slice(0, line.indexOf(':')),
          line.slice(line.indexOf(':') + 2),
        ]),
    );
    const data = fields.get('data');
    if (data === undefined) {
      this.beginning ??= fields.get('id') ?? null;
      return;
    }
    const [id = '', event = ''] = [fields.get('id'), fields.get('event')];
    this.events.push({ id, event, data: JSON.parse(data) as Record<string, unknown> });
  }
}
