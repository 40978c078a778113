import { until } from '../harness/until.ts';

export interface StreamedEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

interface StreamOptions {
  /** The query string including the question mark, sent verbatim. */
  readonly query?: string;
  readonly lastEventId?: string;
}

/** A client of `GET /events/stream` over real HTTP that records the events. */
export class EventReader {
  readonly status: number;
  readonly headers: Headers;
  /** In order of arrival. */
  readonly events: StreamedEvent[] = [];
  /** The position to resume from before the first event. */
  startPosition: string | null = null;
  /** Heartbeat comments. */
  heartbeats = 0;
  /** Whether the server closed the stream properly. */
  readonly closed: Promise<'closed' | 'broken'>;
  readonly #abort: AbortController;
  #open: boolean;

  private constructor(response: Response, disconnect: AbortController) {
    this.status = response.status;
    this.headers = response.headers;
    this.#abort = disconnect;
    this.#open = response.status === 200;
    this.closed = this.#read(response)
      .then(
        () => 'closed' as const,
        () => 'broken' as const,
      )
      .finally(() => {
        this.#open = false;
      });
  }

  static async open(
    url: string,
    apiKey: string,
    { query = '', lastEventId }: StreamOptions = {},
  ): Promise<EventReader> {
    const disconnect = new AbortController();
    const response = await fetch(`${url}/events/stream${query}`, {
      headers: {
        'x-api-key': apiKey,
        ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }),
      },
      signal: disconnect.signal,
    });
    return new EventReader(response, disconnect);
  }

  /** Whether neither side has ended the stream. */
  get isOpen(): boolean {
    return this.#open;
  }

  get ids(): string[] {
    return this.events.map(({ id }) => id);
  }

  /** Waits for the first heartbeat: the stream misses nothing from then on. */
  async waitForStart(): Promise<this> {
    await until('the stream has started', () => Promise.resolve(this.heartbeats > 0));
    return this;
  }

  async waitForEvents(...ids: readonly string[]): Promise<void> {
    await until(`${ids.length} events are streamed`, () =>
      Promise.resolve(ids.every((id) => this.ids.includes(id))),
    );
  }

  /** Drops the connection. */
  disconnect(): void {
    this.#open = false;
    this.#abort.abort();
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) this.#parse(frame);
    }
    if (text !== '' && response.status === 200) throw new Error('the stream ended inside a frame');
  }

  #parse(frame: string): void {
    if (frame.startsWith(':')) this.heartbeats += 1;
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
      this.startPosition ??= fields.get('id') ?? null;
      return;
    }
    const [id = '', event = ''] = [fields.get('id'), fields.get('event')];
    this.events.push({ id, event, data: JSON.parse(data) as Record<string, unknown> });
  }
}
