import { statement } from '../../src/db/tx.ts';
import { recordFinalEvents } from '../../src/events/event.store.ts';
import type { EVENT_NAMES } from '../../src/events/event.ts';
import { uuidMs, uuidv7 } from '../../src/kit/ids.ts';
import type { Answer, ApiClient } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { createPayout, newShop, type Shop } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { type SinkAnswer, WebhookSink } from '../harness/webhook-sink.ts';

/** Bodies as a merchant's program would declare them, from contract.md and not from the server's own schemas. */
export interface EndpointBody {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly staticHeader: { readonly name: string } | null;
  readonly status: 'ENABLED' | 'DISABLED';
  readonly disabledReason: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

export type EndpointWithSecret = EndpointBody & { readonly secret: string };

export interface DeliveryBody {
  readonly id: string;
  readonly eventId: string;
  readonly event: string;
  readonly status: 'PENDING' | 'DELIVERED' | 'FAILED';
  readonly attempts: readonly {
    readonly at: string;
    readonly statusCode: number | null;
    readonly durationMs: number;
    readonly error: string | null;
    readonly answer: string | null;
  }[];
  readonly nextAttemptAt: string | null;
}

export type EventBody = Readonly<Record<'id' | 'event' | 'resource' | 'createdAt', string>> & {
  readonly data: Readonly<Record<string, unknown>>;
  readonly deliveries: readonly (DeliveryBody & { readonly webhookEndpointId: string })[];
};

export interface MadeEndpoint extends EndpointWithSecret {
  /** Of the sink: no two endpoints share one. */
  readonly path: string;
}

const NOW = statement('test.now', 'select caudal.now() as at');

interface StageOptions {
  readonly workers?: number;
  readonly apis?: number;
}

/** A whole Caudal, a sink for its webhooks, and merchants without money: each payout of theirs ends at once, with an event. */
export class WebhookStage {
  readonly stack: Stack;
  readonly inside: InProcess;
  readonly sink: WebhookSink;
  #paths = 0;

  private constructor(stack: Stack, inside: InProcess, sink: WebhookSink) {
    this.stack = stack;
    this.inside = inside;
    this.sink = sink;
  }

  static async open({ workers = 1, apis = 1 }: StageOptions = {}): Promise<WebhookStage> {
    const sink = await WebhookSink.start();
    const stack = await startStack({ apis, workers, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
    return new WebhookStage(stack, await composeInProcess(stack.settings), sink);
  }

  async close(): Promise<void> {
    // The sink first: a worker that ends waits for the answers under way.
    await this.sink.close();
    await this.inside.close();
    await this.stack.stop();
  }

  /** An organization of a test's own. */
  async merchant(): Promise<Merchant> {
    return new Merchant(this, await newShop(this.inside, this.stack.api, 0));
  }

  /** Business time goes on, and the API has heard of it: what is created from now on has an id of its time. */
  async shiftHeard(ms: number): Promise<void> {
    await this.stack.shiftTime(ms);
    const { api } = await this.merchant();
    await until('the API has heard of it', async () => {
      const body = { url: 'https://shop.example.com/' };
      const { id, createdAt } = expected(await api.post<EndpointBody>('/webhook-endpoints', body), 201);
      await api.request('DELETE', `/webhook-endpoints/${id}`);
      return Date.parse(createdAt) - uuidMs(id) < 1000;
    });
  }

  newPath(): string {
    this.#paths += 1;
    return `/hook/${this.#paths}`;
  }

  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.stack.database.query<Row>(text, values);
  }
}

export class Merchant {
  readonly shop: Shop;
  readonly id: string;
  readonly api: ApiClient;
  readonly #stage: WebhookStage;

  constructor(stage: WebhookStage, shop: Shop) {
    this.#stage = stage;
    this.shop = shop;
    this.id = shop.id;
    this.api = shop.api;
  }

  /** One that leads to a path of its own at the sink, which gives these answers. */
  async endpoint(
    changes: Record<string, unknown> = {},
    ...answers: readonly SinkAnswer[]
  ): Promise<MadeEndpoint> {
    const path = this.#stage.newPath();
    const [first, ...rest] = answers;
    if (first !== undefined) this.#stage.sink.answer(path, first, ...rest);
    const body = { url: this.#stage.sink.url(path), ...changes };
    const answer = await this.api.post<EndpointWithSecret>('/webhook-endpoints', body);
    return { ...expected(answer, 201), path };
  }

  async get(endpoint: { readonly id: string }): Promise<EndpointBody> {
    return expected(await this.api.get<EndpointBody>(`/webhook-endpoints/${endpoint.id}`), 200);
  }

  async change(endpoint: { readonly id: string }, body: Record<string, unknown>): Promise<EndpointBody> {
    const path = `/webhook-endpoints/${endpoint.id}`;
    return expected(await this.api.request<EndpointBody>('PATCH', path, { body }), 200);
  }

  /** @returns the id of the test event */
  async test(endpoint: { readonly id: string }): Promise<string> {
    const path = `/webhook-endpoints/${endpoint.id}/test`;
    return expected(await this.api.request<{ eventId: string }>('POST', path), 202).eventId;
  }

  /** Something happens that is told: a payout that the empty balance does not cover. @returns the event's id */
  async declined(): Promise<string> {
    const { id } = await createPayout(this.api);
    return this.eventOf(id);
  }

  async eventOf(resourceId: string): Promise<string> {
    const { body } = await this.api.get<{ data: { id: string }[] }>(`/events?resourceId=${resourceId}`);
    const [event, ...others] = body.data;
    if (!event || others.length > 0) throw new Error(`${body.data.length} events of ${resourceId}`);
    return event.id;
  }

  /** Many events at once, recorded as their flows record them. @returns their ids */
  record(
    count: number,
    event: (typeof EVENT_NAMES)[number] = 'payout.declined',
    beforeCommit: () => Promise<void> = () => Promise.resolve(),
  ): Promise<string[]> {
    const { deps } = this.#stage.inside;
    const fresh = () => uuidv7(deps.clock.now(), deps.cell);
    return deps.system.transaction('apply statuses', async (tx) => {
      const [moment] = await tx.query<{ at: Date }>(NOW);
      const events = Array.from({ length: count }, (_, number) => ({
        id: fresh(),
        organizationId: this.id,
        event,
        resource: event.startsWith('payin') ? ('payin' as const) : ('payout' as const),
        resourceId: fresh(),
        createdAt: moment?.at ?? new Date(0),
        data: { number, name: 'Ñandú 🦤 S.A.S.' },
      }));
      await recordFinalEvents(tx, events, () => this.shop.principal.secrets.dataKey);
      await beforeCommit();
      return events.map(({ id }) => id);
    });
  }

  async event(id: string): Promise<EventBody> {
    return expected(await this.api.get<EventBody>(`/events/${id}`), 200);
  }

  /** What came of an event at an endpoint; null when it was never to go there. */
  async delivery(eventId: string, endpoint: { readonly id: string }): Promise<DeliveryBody | null> {
    const { deliveries } = await this.event(eventId);
    return deliveries.find(({ webhookEndpointId }) => webhookEndpointId === endpoint.id) ?? null;
  }

  /** Until it has so many attempts, or more, and stands so. */
  reaches(
    eventId: string,
    endpoint: { readonly id: string },
    status: DeliveryBody['status'],
    attempts = 0,
    withinMs = 10_000,
  ): Promise<DeliveryBody> {
    return until(
      `the delivery is ${status} after ${attempts}`,
      async () => {
        const delivery = await this.delivery(eventId, endpoint);
        return delivery?.status === status && delivery.attempts.length >= attempts ? delivery : null;
      },
      withinMs,
    );
  }

  disabled(endpoint: { readonly id: string }): Promise<EndpointBody> {
    return until('it is disabled', async () => {
      const seen = await this.get(endpoint);
      return seen.status === 'DISABLED' ? seen : null;
    });
  }

  /** Until nothing waits for an endpoint, and nobody is at its line nor will look at it. */
  async lineRests(endpoint: { readonly id: string }): Promise<void> {
    await until('the line rests', async () => {
      const [line] = await this.#stage.query(
        'select 1 from caudal.webhook_queues where endpoint_id = $1 and leased_until is null and due_at is null',
        [endpoint.id],
      );
      return line;
    });
  }

  /** Until all that happened is in the lines. */
  async dispatched(): Promise<void> {
    await until('all is dispatched', async () => {
      const [row] = await this.#stage.query<{ count: number }>(
        'select count(*)::int as count from caudal.events where undispatched and organization_id = $1',
        [this.id],
      );
      return row?.count === 0;
    });
  }
}

export function expected<Body>(answer: Answer<Body>, status: number): Body {
  if (answer.status !== status)
    throw new Error(`expected ${status}, the answer was ${answer.status}: ${answer.text}`);
  return answer.body;
}
