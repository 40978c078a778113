import { classifyFailure, isTransient } from '../../db/failures.ts';
import type { SystemDeps } from '../../deps.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import { monotonicMs, realTime } from '../../kit/clock.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Counter } from '../../kit/metrics.ts';
import { formatTraceparent, unpackTraceContext } from '../../kit/trace-context.ts';
import type { Span } from '../../kit/tracer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import {
  type AttemptResult,
  type DueDelivery,
  readDueDeliveries,
  recordAttempts,
} from '../../webhooks/delivery.store.ts';
import { disableEndpoints } from '../../webhooks/endpoint.store.ts';
import type { DisabledReason } from '../../webhooks/endpoint.ts';
import {
  type EndpointQueue,
  leaseQueues,
  pauseQueues,
  type QueueRelease,
  releaseQueues,
} from '../../webhooks/queue.store.ts';
import { FAILURE_REASONS } from '../../webhooks/sending/send-failure.ts';
import type { SendResult, WebhookSender } from '../../webhooks/sending/webhook-sender.ts';
import { signatureHeaders } from '../../webhooks/signature.ts';
import { type DecryptEvent, type DecryptedEvent, DecryptedEventCache } from './decrypted-event-cache.ts';
import { DeliveryConcurrency, type Slot } from './delivery-concurrency.ts';
import {
  expiredResult,
  postponedResult,
  restMs,
  type SendOutcome,
  toBatchResult,
  toSendOutcome,
} from './delivery-outcome.ts';
import { decryptTarget, type Target } from './webhook-target.ts';

/** Queues leased by one statement. */
const MAX_LEASED = 256;
/**
 * Deliveries per batch of one queue. It is small until the queue is known to be backlogged, so that a single event does
 * not wait for large batches of hundreds of other queues.
 */
const BATCH_SIZE = 10;
const BACKLOGGED_BATCH_SIZE = 100;
/** Concurrent sends per queue while the endpoint accepts deliveries. */
const MAX_CONCURRENT_SENDS = 10;
/** A batch starts no send after this: with the slowest response and the recording it must end within its lease. */
const START_SENDS_WITHIN_MS = 8000;
/** Delay of a queue or delivery that fails to decrypt: an operator has to fix the cause. */
const POSTPONE_MS = 600_000;
/** An endpoint is disabled after this long without a success. */
const DISABLE_AFTER_SECONDS = 5 * 86_400;

/** Queues leased together. */
interface Lease {
  readonly token: string;
  readonly secrets: (organizationId: string) => OrganizationSecrets;
  readonly decryptEvent: DecryptEvent;
}

interface Batch {
  readonly results: readonly AttemptResult[];
  readonly release: QueueRelease;
  readonly encryptedUrl: Buffer;
  /** The endpoint responded 410 Gone. */
  readonly gone: boolean;
}

/**
 * Delivers events. It leases the queues of endpoints and processes each independently: an endpoint that hangs or fails
 * delays only its own queue. The result is recorded after the send, so a crash in between causes a duplicate delivery with
 * the same event id.
 */
export class WebhookDeliverer {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #sender: WebhookSender;
  readonly #events = new DecryptedEventCache();
  readonly #recorder: Batcher<Batch, null>;
  readonly #attempts: Counter;
  readonly #disabled: Counter;
  readonly #batches = new Set<Promise<void>>();
  readonly #concurrency = new DeliveryConcurrency(() => this.#workInBackground());
  #leasing: Promise<number> | null = null;
  #woken = false;
  #closed = false;

  constructor(deps: SystemDeps, keys: DataKeys, sender: WebhookSender) {
    this.#deps = deps;
    this.#keys = keys;
    this.#sender = sender;
    this.#recorder = new Batcher({
      run: async (batches) => {
        await this.#record(batches);
        return batches.map(() => null);
      },
      verdict: classifyFailure,
      groupOf: ({ release }) => release.endpointId,
      maxBatch: 100,
      maxQueue: 10_000,
      // A batch that waits for a replay of the same deliveries does not delay the others.
      lanes: 2,
      retryWithinMs: 10_000,
    });
    this.#attempts = deps.metrics.counter(
      'caudal_webhook_attempts_total',
      'Webhook delivery attempts, by result.',
      { result: ['2xx', '3xx', '4xx', '5xx', ...FAILURE_REASONS] },
    );
    this.#disabled = deps.metrics.counter(
      'caudal_webhook_endpoints_disabled_total',
      'Webhook endpoints disabled by the service because deliveries failed.',
      {},
    );
    deps.metrics.gauge(
      'caudal_webhook_deliveries_in_flight',
      'Endpoint queues with a batch in progress.',
      () => this.#concurrency.taken,
    );
    deps.metrics.gauge(
      'caudal_webhook_endpoints_slow',
      'Endpoint queues in progress that have waited more than one second for a response.',
      () => this.#concurrency.slow,
    );
    deps.metrics.gauge(
      'caudal_webhook_deliveries_in_flight_limit',
      'Maximum endpoint queues in progress, excluding slow ones; it decreases while the event loop is late.',
      () => this.#concurrency.limit,
    );
  }

  /** Whether batches are in progress: a queue may be due again when its batch ends. */
  get active(): boolean {
    return this.#concurrency.taken > 0;
  }

  /** @returns the number of leased queues; call again immediately while it is positive */
  work(): Promise<number> {
    this.#leasing ??= this.#leaseDue().finally(() => {
      this.#leasing = null;
      if (this.#woken) this.wake();
    });
    return this.#leasing;
  }

  /** Called after deliveries were added: leases due queues now, or again after the lease in progress. */
  wake(): void {
    this.#woken = this.#leasing !== null;
    if (!this.#woken) this.#workInBackground();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#leasing?.catch(() => undefined);
    await Promise.all(this.#batches);
    await this.#recorder.close();
    this.#sender.close();
  }

  async #leaseDue(): Promise<number> {
    const free = this.#concurrency.free();
    const limit = Math.min(MAX_LEASED, free.queues);
    if (this.#closed || limit === 0) return 0;
    const leaseToken = newLeaseToken();
    const { queues, deliveries, decryptEvent } = await this.#deps.system.transaction(
      'lease queues',
      async (tx) => {
        const queues = await leaseQueues(tx, leaseToken, limit, Math.min(limit, free.failing));
        const deliveries = await readDueDeliveries(
          tx,
          queues.map((queue) => ({ ...queue, limit: batchSize(queue) })),
        );
        const due = deliveries.filter(({ expired }) => !expired);
        return { queues, deliveries, decryptEvent: await this.#events.read(tx, due) };
      },
    );
    this.#concurrency.leased(queues.length, limit);
    if (queues.length === 0) return 0;
    const secrets = await this.#keys.load(new Set(queues.map((queue) => queue.organizationId)));
    const byQueue = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
    const lease = { token: leaseToken, secrets, decryptEvent };
    for (const queue of queues) this.#start(queue, byQueue.get(queue.endpointId) ?? [], lease);
    return queues.length;
  }

  #start(queue: EndpointQueue, deliveries: readonly DueDelivery[], lease: Lease): void {
    const slot = this.#concurrency.acquire(queue.failures > 0);
    const batch = this.#process(queue, deliveries, lease, slot).then((full) => {
      this.#batches.delete(batch);
      slot.release();
      // Otherwise the queue is empty and the next poll is soon enough.
      if (full) this.#workInBackground();
    });
    this.#batches.add(batch);
  }

  #workInBackground(): void {
    if (!this.#closed) void this.work().catch(() => undefined);
  }

  /** Sends a batch and records it. @returns whether the queue may have more due deliveries; never throws */
  async #process(
    queue: EndpointQueue,
    deliveries: readonly DueDelivery[],
    lease: Lease,
    slot: Slot,
  ): Promise<boolean> {
    try {
      const batch = await this.#sendBatch(queue, deliveries, lease, slot);
      await this.#recorder.submit(batch);
      return batch.release.full;
    } catch (error) {
      // The lease expires and the whole batch is sent again.
      if (!isTransient(error))
        this.#deps.log.error(
          { code: 'webhook_result_recording_failed', ...errorFields(error) },
          'failed to record webhook delivery results; the batch will be sent again',
        );
      return false;
    }
  }

  async #sendBatch(
    queue: EndpointQueue,
    deliveries: readonly DueDelivery[],
    lease: Lease,
    slot: Slot,
  ): Promise<Batch> {
    const { organizationId, endpointId } = queue;
    const release = (restMs: number, result: QueueRelease['result'], full = false): QueueRelease => ({
      organizationId,
      endpointId,
      leaseToken: lease.token,
      restMs,
      result,
      full,
    });
    let target: Target;
    try {
      target = decryptTarget(queue, lease.secrets(organizationId));
    } catch (error) {
      this.#deps.log.error(
        {
          code: 'webhook_endpoint_decrypt_failed',
          ...errorFields(error),
          organizationId,
          webhookEndpointId: endpointId,
        },
        'failed to decrypt webhook endpoint; its queue is postponed',
      );
      return {
        results: [],
        release: release(POSTPONE_MS, 'none'),
        encryptedUrl: queue.encryptedUrl,
        gone: false,
      };
    }
    const expired = deliveries.filter((delivery) => delivery.expired).map(expiredResult);
    const due = deliveries.filter((delivery) => !delivery.expired);
    const { sent, unsent } = await this.#sendAll(due, target, lease, slot);
    const failed = sent.length > 0 && sent.every(({ received }) => !received);
    const full = !failed && deliveries.length === batchSize(queue);
    return {
      results: [...expired, ...unsent, ...sent.map(({ result }) => result)],
      release: release(failed ? restMs(queue, sent) : 0, toBatchResult(sent), full),
      encryptedUrl: queue.encryptedUrl,
      gone: sent.some(({ result }) => result.attempt?.statusCode === 410),
    };
  }

  /**
   * Starts with one worker and adds one after each accepted delivery; after the first failure no send is started. So a
   * hanging endpoint has one open request and a fast one has ten.
   */
  async #sendAll(
    due: readonly DueDelivery[],
    target: Target,
    lease: Lease,
    slot: Slot,
  ): Promise<{ readonly sent: readonly SendOutcome[]; readonly unsent: readonly AttemptResult[] }> {
    const sent: SendOutcome[] = [];
    const unsent: AttemptResult[] = [];
    const pending = [...due];
    const deadline = monotonicMs() + START_SENDS_WITHIN_MS;
    let failing = false;
    let workers = 1;
    const worker = async (): Promise<void> => {
      const started: Promise<void>[] = [];
      while (!failing && !this.#closed && monotonicMs() < deadline) {
        const next = pending.shift();
        if (!next) break;
        const event = this.#decrypt(next, lease);
        if (event === null) {
          unsent.push(postponedResult(next, POSTPONE_MS));
          continue;
        }
        const startedAt = monotonicMs();
        const sendResult = await this.#send(next, event, target);
        slot.progress();
        const outcome = toSendOutcome(next, sendResult, startedAt, event.test, target.encryptResponse);
        sent.push(outcome);
        failing ||= !outcome.received;
        if (outcome.received && pending.length > 0 && workers < MAX_CONCURRENT_SENDS) {
          workers += 1;
          started.push(worker());
        }
      }
      await Promise.all(started);
    };
    await worker();
    return { sent, unsent };
  }

  /** Returns null for a missing or undecryptable event, so that it does not block the other deliveries. */
  #decrypt(delivery: DueDelivery, lease: Lease): DecryptedEvent | null {
    const { organizationId, eventId } = delivery;
    try {
      return lease.decryptEvent(delivery, lease.secrets(organizationId).dataKey);
    } catch (error) {
      this.#deps.log.error(
        { code: 'event_decrypt_failed', ...errorFields(error), organizationId, event: eventId },
        'failed to decrypt event payload; delivery postponed',
      );
      return null;
    }
  }

  async #send(delivery: DueDelivery, event: DecryptedEvent, target: Target): Promise<SendResult> {
    const { body } = event;
    const span = this.#startSpan(delivery, event);
    const signature = signatureHeaders({ id: delivery.eventId, timestamp: realTime(), body }, target.secrets);
    const sendResult = await this.#sender.send({
      url: target.url,
      headers: {
        ...(target.staticHeader ? { [target.staticHeader.name]: target.staticHeader.value } : {}),
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Caudal-Webhooks/1.0',
        ...(span ? { traceparent: formatTraceparent(span.context) } : {}),
        ...signature,
      },
      body,
    });
    this.#attempts.add({
      result: sendResult.kind === 'answered' ? `${Math.floor(sendResult.status / 100)}xx` : sendResult.reason,
    });
    endSpan(span, sendResult);
    return sendResult;
  }

  /** The URL is no attribute: it can contain secrets of the merchant. */
  #startSpan(delivery: DueDelivery, { traceContext }: DecryptedEvent): Span | null {
    const parent = unpackTraceContext(traceContext);
    return (
      parent &&
      this.#deps.tracer.startSpan('webhook attempt', {
        parent,
        kind: 'client',
        attributes: {
          'http.request.method': 'POST',
          'caudal.organization.id': delivery.organizationId,
          'caudal.webhook_endpoint.id': delivery.endpointId,
          'caudal.event.id': delivery.eventId,
          'caudal.webhook.attempt': delivery.attempts + 1,
        },
      })
    );
  }

  async #record(batches: readonly Batch[]): Promise<void> {
    const disabled = await this.#deps.system.transaction('record deliveries', async (tx) => {
      await recordAttempts(
        tx,
        batches.flatMap((batch) => batch.results),
        monotonicMs(),
      );
      const failing = await releaseQueues(
        tx,
        batches.map((batch) => batch.release),
      );
      const failedTooLong = new Set(
        failing
          .filter(({ failingSeconds }) => failingSeconds >= DISABLE_AFTER_SECONDS)
          .map(({ endpointId }) => endpointId),
      );
      const toDisable = batches.flatMap(({ release: { organizationId, endpointId }, encryptedUrl, gone }) => {
        const reason: DisabledReason | null = gone
          ? 'gone'
          : failedTooLong.has(endpointId)
            ? 'no_success_5d'
            : null;
        return reason === null ? [] : [{ organizationId, id: endpointId, encryptedUrl, reason }];
      });
      const disabled = await disableEndpoints(tx, toDisable);
      await pauseQueues(tx, disabled);
      return disabled;
    });
    for (const { organizationId, id, reason } of disabled) {
      this.#disabled.add();
      this.#deps.log.error(
        { code: 'webhook_endpoint_disabled', organizationId, webhookEndpointId: id, reason },
        'disabled webhook endpoint; its deliveries stay pending until it is enabled again',
      );
    }
  }
}

function endSpan(span: Span | null, result: SendResult): void {
  if (!span) return;
  if (result.kind === 'failed') return span.end(result.reason);
  span.set({ 'http.response.status_code': result.status });
  span.end(result.status < 300 ? undefined : String(result.status));
}

/** A failing queue sends one delivery at a time. */
function batchSize({ failures, backlogged }: EndpointQueue): number {
  if (failures > 0) return 1;
  return backlogged ? BACKLOGGED_BATCH_SIZE : BATCH_SIZE;
}
