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

/**
 * An answer that is no success, after which the endpoint is not attempted again by itself: otherwise the retry after five
 * seconds of real time may come before a slow test looks.
 */
export const FAILS_FOR_LONG: SinkAnswer = { status: 500, headers: { 'retry-after': '86400' } };

/** What the worker stored with each attempt and each batch. Later ones replace it in the rows, at any time. */
const HISTORY = `
  create table public.planned_attempts (
    endpoint_id uuid, event_id uuid, attempts int, at timestamptz, next_attempt_at timestamptz);
  create table public.queue_steps (
    step bigint generated always as identity, endpoint_id uuid, leased boolean, at timestamptz, rest_until timestamptz);
  create function public.log_planned_attempt() returns trigger language plpgsql security definer as $$
  begin
    insert into public.planned_attempts values (new.endpoint_id, new.event_id, new.attempts, caudal.now(), new.next_attempt_at);
    return null;
  end $$;
  create function public.log_queue_step() returns trigger language plpgsql security definer as $$
  begin
    insert into public.queue_steps (endpoint_id, leased, at, rest_until)
      values (new.endpoint_id, new.lease_token is not null, caudal.now(), new.rest_until);
    return null;
  end $$;
  create trigger log_planned_attempt after update on caudal.webhook_deliveries for each row
    when (new.attempts > old.attempts) execute function public.log_planned_attempt();
  create trigger log_queue_step after update on caudal.webhook_queues for each row
    when (new.lease_token is distinct from old.lease_token) execute function public.log_queue_step();`;

/** An attempt of a delivery. The times are business times of the transactions that leased its queue and recorded it. */
export interface RecordedAttempt {
  readonly leasedAt: Date;
  /** From its recording to the next attempt; null after the last. */
  readonly delayMs: number | null;
  readonly nextAttemptAt: Date | null;
}

/** One batch of a queue, with the times of the same transactions. */
export interface BatchStep {
  readonly leasedAt: Date;
  readonly releasedAt: Date;
  /** Attempts recorded with the release. */
  readonly attempts: number;
  readonly restUntil: Date | null;
}

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

  /** Advances business time and waits until the API and this process see it: IDs created from now on have the new time. */
  async shiftTime(ms: number): Promise<void> {
    await this.stack.shiftTime(ms);
    const [row] = await this.query<{ at: Date }>('select caudal.now() as at');
    const now = row?.at.getTime() ?? Number.POSITIVE_INFINITY;
    await until('this process sees the new time', () =>
      Promise.resolve(this.inProcess.deps.clock.time() >= now),
    );
    const { api } = await this.merchant();
    await until('the API sees the new time', async () => {
      const body = { url: 'https://shop.example.com/' };
      const { id } = expectStatus(await api.post<EndpointBody>('/webhook-endpoints', body), 201);
      await api.request('DELETE', `/webhook-endpoints/${id}`);
      return uuidMs(id) >= now;
    });
  }

  newPath(): string {
    this.#paths += 1;
    return `/hook/${this.#paths}`;
  }

  query<Row extends object>(text: string, values: readonly unknown[] = []): Promise<Row[]> {
    return this.stack.database.query<Row>(text, values);
  }

  /** Keeps what `recordedAttempts` and `batches` return from now on. Call it once per stage. */
  async keepHistory(): Promise<void> {
    await this.query(HISTORY);
  }

  recordedAttempts(eventId: string, endpoint: { readonly id: string }): Promise<RecordedAttempt[]> {
    return this.query<RecordedAttempt>(
      `select (select max(s.at) from public.queue_steps s where s.endpoint_id = $1 and s.leased and s.at <= p.at) as "leasedAt",
         (extract(epoch from p.next_attempt_at - p.at) * 1000)::float8 as "delayMs", p.next_attempt_at as "nextAttemptAt"
       from public.planned_attempts p where p.endpoint_id = $1 and p.event_id = $2 order by p.attempts`,
      [endpoint.id, eventId],
    );
  }

  /** The finished batches of a queue that sent something, oldest first. */
  async batches({ id }: { readonly id: string }): Promise<BatchStep[]> {
    const batches = await this.query<BatchStep>(
      `select l.at as "leasedAt", r.at as "releasedAt", r.rest_until as "restUntil",
         (select count(*)::int from public.planned_attempts p where p.endpoint_id = $1 and p.at = r.at) as attempts
       from (select *, lead(step) over (order by step) as next from public.queue_steps where endpoint_id = $1) as l
       join public.queue_steps r on r.step = l.next and not r.leased
       where l.leased order by l.step`,
      [id],
    );
    return batches.filter(({ attempts }) => attempts > 0);
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
  ): Promise<DeliveryBody> {
    return until(`the delivery is ${status} after ${attempts} attempts`, async () => {
      const delivery = await this.delivery(eventId, endpoint);
      return delivery?.status === status && delivery.attempts.length >= attempts ? delivery : null;
    });
  }

  /** Waits until the delivery has an attempt. It may have been retried since. */
  waitForAttempt(eventId: string, endpoint: { readonly id: string }): Promise<DeliveryBody> {
    return until('the delivery was attempted', async () => {
      const delivery = await this.delivery(eventId, endpoint);
      return delivery && delivery.attempts.length > 0 ? delivery : null;
    });
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
