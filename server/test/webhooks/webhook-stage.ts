import { statement } from '../../src/db/tx.ts';
import { recordFinalEvents } from '../../src/events/event.store.ts';
import type { EVENT_NAMES } from '../../src/events/event.ts';
import { EVENT_EXAMPLES } from '../../src/http/api/event.schema.ts';
import { uuidMs, uuidv7 } from '../../src/kit/ids.ts';
import type { ApiClient, ApiResponse } from '../harness/api-client.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { createPayout, newShop, type Shop } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { type SinkAnswer, WebhookSink } from '../harness/webhook-sink.ts';

/** Bodies as a merchant's program declares them, independent of the server's schemas. */
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

export interface CreatedEndpoint extends EndpointWithSecret {
  /** Path at the sink, unique per endpoint. */
  readonly path: string;
}

const NOW = statement('test.now', 'select caudal.now() as at');

interface StageOptions {
  readonly workers?: number;
  readonly apis?: number;
}

/**
 * A complete Caudal with a webhook receiver, and merchants without a balance: each of their payouts is
 * declined immediately, with an event.
 */
export class WebhookStage {
  readonly stack: Stack;
  readonly inProcess: InProcess;
  readonly sink: WebhookSink;
  #paths = 0;

  private constructor(stack: Stack, inProcess: InProcess, sink: WebhookSink) {
    this.stack = stack;
    this.inProcess = inProcess;
    this.sink = sink;
  }

  static async open({ workers = 1, apis = 1 }: StageOptions = {}): Promise<WebhookStage> {
    const sink = await WebhookSink.start();
    const stack = await startStack({ apis, workers, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
    return new WebhookStage(stack, await composeInProcess(stack.settings), sink);
  }

  async close(): Promise<void> {
    // Close the sink first: a stopping worker waits for its requests in flight.
    await this.sink.close();
    await this.inProcess.close();
    await this.stack.stop();
  }

  /** An organization for one test. */
  async merchant(): Promise<Merchant> {
    return new Merchant(this, await newShop(this.inProcess, this.stack.api, 0));
  }

  /** Advances business time and waits until the API sees it: IDs created from now on have the new time. */
  async shiftTime(ms: number): Promise<void> {
    await this.stack.shiftTime(ms);
    const { api } = await this.merchant();
    await until('the API sees the new time', async () => {
      const body = { url: 'https://shop.example.com/' };
      const { id, createdAt } = expectStatus(await api.post<EndpointBody>('/webhook-endpoints', body), 201);
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

  /** Creates an endpoint with its own path at the sink, which gives these answers. */
  async endpoint(
    changes: Record<string, unknown> = {},
    ...answers: readonly SinkAnswer[]
  ): Promise<CreatedEndpoint> {
    const path = this.#stage.newPath();
    const [first, ...rest] = answers;
    if (first !== undefined) this.#stage.sink.answer(path, first, ...rest);
    const body = { url: this.#stage.sink.url(path), ...changes };
    const answer = await this.api.postWhenAvailable<EndpointWithSecret>('/webhook-endpoints', body);
    return { ...expectStatus(answer, 201), path };
  }

  async get(endpoint: { readonly id: string }): Promise<EndpointBody> {
    return expectStatus(await this.api.get<EndpointBody>(`/webhook-endpoints/${endpoint.id}`), 200);
  }

  async change(endpoint: { readonly id: string }, body: Record<string, unknown>): Promise<EndpointBody> {
    const path = `/webhook-endpoints/${endpoint.id}`;
    return expectStatus(await this.api.request<EndpointBody>('PATCH', path, { body }), 200);
  }

  /** @returns the ID of the test event */
  async test(endpoint: { readonly id: string }): Promise<string> {
    const path = `/webhook-endpoints/${endpoint.id}/test`;
    return expectStatus(await this.api.request<{ eventId: string }>('POST', path), 202).eventId;
  }

  /** Creates a payout that the empty balance does not cover. @returns the ID of its payout.declined event */
  async declinePayout(): Promise<string> {
    const { id } = await createPayout(this.api);
    return this.findEventId(id);
  }

  async findEventId(resourceId: string): Promise<string> {
    const { body } = await this.api.get<{ data: { id: string }[] }>(`/events?resourceId=${resourceId}`);
    const [event, ...others] = body.data;
    if (!event || others.length > 0)
      throw new Error(`${resourceId} has ${body.data.length} events instead of one`);
    return event.id;
  }

  /** Records many events in one transaction, as the flows do. @returns their IDs */
  record(
    count: number,
    event: (typeof EVENT_NAMES)[number] = 'payout.declined',
    beforeCommit: () => Promise<void> = () => Promise.resolve(),
  ): Promise<string[]> {
    const { deps } = this.#stage.inProcess;
    const fresh = () => uuidv7(deps.clock.now(), deps.cell);
    return deps.system.transaction('apply statuses', async (tx) => {
      const [now] = await tx.query<{ at: Date }>(NOW);
      const events = Array.from({ length: count }, (_, number) => ({
        id: fresh(),
        organizationId: this.id,
        event,
        resource: event.startsWith('payin') ? ('payin' as const) : ('payout' as const),
        resourceId: fresh(),
        createdAt: now?.at ?? new Date(0),
        data: { ...EVENT_EXAMPLES[event].data, reference: `Ñandú 🦤 ${number}` },
        traceContext: null,
      }));
      await recordFinalEvents(tx, events, () => this.shop.principal.secrets.dataKey);
      await beforeCommit();
      return events.map(({ id }) => id);
    });
  }

  async event(id: string): Promise<EventBody> {
    return expectStatus(await this.api.get<EventBody>(`/events/${id}`), 200);
  }

  /** Delivery of an event to an endpoint; null when there is none. */
  async delivery(eventId: string, endpoint: { readonly id: string }): Promise<DeliveryBody | null> {
    const { deliveries } = await this.event(eventId);
    return deliveries.find(({ webhookEndpointId }) => webhookEndpointId === endpoint.id) ?? null;
  }

  /** Waits until the delivery has this status and at least this many attempts. */
  waitForDelivery(
    eventId: string,
    endpoint: { readonly id: string },
    status: DeliveryBody['status'],
    attempts = 0,
    withinMs = 10_000,
  ): Promise<DeliveryBody> {
    return until(
      `the delivery is ${status} after ${attempts} attempts`,
      async () => {
        const delivery = await this.delivery(eventId, endpoint);
        return delivery?.status === status && delivery.attempts.length >= attempts ? delivery : null;
      },
      withinMs,
    );
  }

  waitUntilDisabled(endpoint: { readonly id: string }): Promise<EndpointBody> {
    return until('the endpoint is disabled', async () => {
      const seen = await this.get(endpoint);
      return seen.status === 'DISABLED' ? seen : null;
    });
  }

  /** Waits until the endpoint has no pending delivery and its queue is neither leased nor due. */
  async waitUntilQueueIdle(endpoint: { readonly id: string }): Promise<void> {
    await until('the queue is idle', async () => {
      const [line] = await this.#stage.query(
        'select 1 from caudal.webhook_queues where endpoint_id = $1 and leased_until is null and due_at is null',
        [endpoint.id],
      );
      return line;
    });
  }

  /** Waits until all events are in the queues. */
  async waitUntilDispatched(): Promise<void> {
    await until('all events are dispatched', async () => {
      const [row] = await this.#stage.query<{ count: number }>(
        'select count(*)::int as count from caudal.events where undispatched and organization_id = $1',
        [this.id],
      );
      return row?.count === 0;
    });
  }
}

export function expectStatus<Body>(answer: ApiResponse<Body>, status: number): Body {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body;
}
