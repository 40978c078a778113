import { isPassing, verdictOf } from '../../db/failures.ts';
import type { SystemDeps } from '../../deps.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import { monotonicMs, realTime } from '../../kit/clock.ts';
import { freshToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Counter } from '../../kit/metrics.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import {
  type AttemptResult,
  type DueDelivery,
  recordAttempts,
  takeDeliveries,
} from '../../webhooks/delivery.store.ts';
import { disableEndpoints } from '../../webhooks/endpoint.store.ts';
import {
  type EndpointQueue,
  leaseQueues,
  pauseQueues,
  type QueueRelease,
  releaseQueues,
} from '../../webhooks/queue.store.ts';
import type { SendResult, WebhookSender } from '../../webhooks/sending/webhook-sender.ts';
import { signatureHeaders } from '../../webhooks/signature.ts';
import { type DecryptedEvent, DecryptedEventCache, type EventOf } from './decrypted-event-cache.ts';
import { DeliveryConcurrency, type Slot } from './delivery-concurrency.ts';
import { givenUp, judged, postpone, restMs, type Sent, sentOf } from './delivery-outcome.ts';
import { type Target, targetOf } from './webhook-target.ts';

/** In one statement. */
const MAX_LEASED = 256;
/**
 * So many of one line in a turn, then the others have theirs: few at first, so that an event alone does not wait for
 * hundreds of lines of which nobody knew yet that much is in them.
 */
const BATCH_SIZE = 10;
const BACKLOGGED_BATCH_SIZE = 100;
/** So many of them at once when all goes well. */
const SENDS_AT_ONCE = 10;
/** After that a turn begins no more: with the longest answer and the writing down it must end within its claim. */
const BEGIN_WITHIN_MS = 8000;
/** A line that cannot be read waits for somebody to look into it. */
const POSTPONE_MS = 600_000;
/** Without one success for so long an endpoint is disabled. */
const GIVEN_UP_AFTER_SECONDS = 5 * 86_400;

/** Lines taken together. */
interface Claim {
  readonly token: string;
  readonly secrets: (organizationId: string) => OrganizationSecrets;
  readonly eventOf: EventOf;
}

interface Turn {
  readonly results: readonly AttemptResult[];
  readonly release: QueueRelease;
  readonly sealedAddress: Buffer;
  /** It said that it is there no more. */
  readonly gone: boolean;
}

/**
 * Delivers events. It takes lines, one for each endpoint, and works each by itself: an endpoint that hangs or fails delays
 * only its own. That an event was received is written down after it was; whatever dies in between leaves it to be sent again,
 * under the same id.
 */
export class WebhookDeliverer {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #sender: WebhookSender;
  readonly #opened = new DecryptedEventCache();
  readonly #recorder: Batcher<Turn, null>;
  readonly #attempts: Counter;
  readonly #disabled: Counter;
  readonly #turns = new Set<Promise<void>>();
  readonly #places = new DeliveryConcurrency(() => this.#goOn());
  #claiming: Promise<number> | null = null;
  #woken = false;
  #closed = false;

  constructor(deps: SystemDeps, keys: DataKeys, sender: WebhookSender) {
    this.#deps = deps;
    this.#keys = keys;
    this.#sender = sender;
    this.#recorder = new Batcher({
      run: async (turns) => {
        await this.#record(turns);
        return turns.map(() => null);
      },
      verdict: verdictOf,
      groupOf: ({ release }) => release.endpointId,
      maxBatch: 100,
      maxQueue: 10_000,
      // One that waits for a replay of the same deliveries does not hold up the others.
      lanes: 2,
      retryWithinMs: 10_000,
    });
    this.#attempts = deps.metrics.counter(
      'caudal_webhook_attempts_total',
      'Attempts to deliver an event, by what came of them.',
    );
    this.#disabled = deps.metrics.counter(
      'caudal_webhook_endpoints_disabled_total',
      'Endpoints that were disabled because nothing reached them.',
    );
    deps.metrics.gauge(
      'caudal_webhook_deliveries_in_flight',
      'Lines that are being worked.',
      () => this.#places.taken,
    );
    deps.metrics.gauge(
      'caudal_webhook_endpoints_slow',
      'Of them, those that have waited for an answer for more than a second.',
      () => this.#places.slow,
    );
    deps.metrics.gauge(
      'caudal_webhook_deliveries_in_flight_limit',
      'Lines that may be worked at once beside the slow ones: fewer while the process is busy.',
      () => this.#places.limit,
    );
  }

  /** Whether lines are being worked: one may be due again when its turn ends. */
  get active(): boolean {
    return this.#places.taken > 0;
  }

  /** @returns how many lines were taken; call again at once while there are any */
  work(): Promise<number> {
    this.#claiming ??= this.#claim().finally(() => {
      this.#claiming = null;
      if (this.#woken) this.wake();
    });
    return this.#claiming;
  }

  /** Something was put into lines: somebody looks at once, or as soon as whoever is looking has done so. */
  wake(): void {
    this.#woken = this.#claiming !== null;
    if (!this.#woken) this.#goOn();
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#claiming?.catch(() => undefined);
    await Promise.all(this.#turns);
    await this.#recorder.close();
    this.#sender.close();
  }

  async #claim(): Promise<number> {
    const free = this.#places.free();
    const limit = Math.min(MAX_LEASED, free.queues);
    if (this.#closed || limit === 0) return 0;
    const leaseToken = freshToken();
    const { queues, deliveries, eventOf } = await this.#deps.system.transaction(
      'lease queues',
      async (tx) => {
        const queues = await leaseQueues(tx, leaseToken, limit, Math.min(limit, free.failing));
        const deliveries = await takeDeliveries(tx, queues.map(withMost));
        const due = deliveries.filter(({ over }) => !over);
        return { queues, deliveries, eventOf: await this.#opened.read(tx, due) };
      },
    );
    this.#places.found(queues.length, limit);
    if (queues.length === 0) return 0;
    const secrets = await this.#keys.of(new Set(queues.map((queue) => queue.organizationId)));
    const byLine = Map.groupBy(deliveries, ({ endpointId }) => endpointId);
    const claim = { token: leaseToken, secrets, eventOf };
    for (const queue of queues) this.#begin(queue, byLine.get(queue.endpointId) ?? [], claim);
    return queues.length;
  }

  #begin(queue: EndpointQueue, deliveries: readonly DueDelivery[], claim: Claim): void {
    const place = this.#places.take(queue.failures > 0);
    const turn = this.#take(queue, deliveries, claim, place).then((full) => {
      this.#turns.delete(turn);
      place.leave();
      // Otherwise nobody waits, and the next round is soon enough.
      if (full) this.#goOn();
    });
    this.#turns.add(turn);
  }

  #goOn(): void {
    if (!this.#closed) void this.work().catch(() => undefined);
  }

  /** @returns whether the line may have more; never throws */
  async #take(
    queue: EndpointQueue,
    deliveries: readonly DueDelivery[],
    claim: Claim,
    place: Slot,
  ): Promise<boolean> {
    try {
      const turn = await this.#turn(queue, deliveries, claim, place);
      await this.#recorder.submit(turn);
      return turn.release.full;
    } catch (error) {
      // Its claim runs out, and all of it is sent again.
      if (!isPassing(error))
        this.#deps.log.error({ ...errorFields(error) }, 'what came of deliveries could not be written down');
      return false;
    }
  }

  async #turn(
    queue: EndpointQueue,
    deliveries: readonly DueDelivery[],
    claim: Claim,
    place: Slot,
  ): Promise<Turn> {
    const { organizationId, endpointId } = queue;
    const released = (restMs: number, result: QueueRelease['result'], full = false): QueueRelease => ({
      organizationId,
      endpointId,
      leaseToken: claim.token,
      restMs,
      result,
      full,
    });
    let target: Target;
    try {
      target = targetOf(queue, claim.secrets(organizationId));
    } catch (error) {
      this.#deps.log.error({ ...errorFields(error), organizationId }, 'a webhook endpoint does not open');
      return {
        results: [],
        release: released(POSTPONE_MS, 'none'),
        sealedAddress: queue.sealedAddress,
        gone: false,
      };
    }
    const over = deliveries.filter((delivery) => delivery.over).map(givenUp);
    const due = deliveries.filter((delivery) => !delivery.over);
    const { sent, unsent } = await this.#sendAll(due, target, claim, place);
    const failed = sent.length > 0 && sent.every(({ received }) => !received);
    const full = !failed && deliveries.length === mostOf(queue);
    return {
      results: [...over, ...unsent, ...sent.map(({ result }) => result)],
      release: released(failed ? restMs(queue, sent) : 0, judged(sent), full),
      sealedAddress: queue.sealedAddress,
      gone: sent.some(({ result }) => result.attempt?.statusCode === 410),
    };
  }

  /**
   * One, and with each that is received one more beside it, in order; after the first that fails no more are begun. So an
   * endpoint that hangs has one request open, and one that answers soon has ten.
   */
  async #sendAll(
    due: readonly DueDelivery[],
    target: Target,
    claim: Claim,
    place: Slot,
  ): Promise<{ readonly sent: readonly Sent[]; readonly unsent: readonly AttemptResult[] }> {
    const sent: Sent[] = [];
    const unsent: AttemptResult[] = [];
    const queue = [...due];
    const until = monotonicMs() + BEGIN_WITHIN_MS;
    let failing = false;
    let workers = 1;
    const worker = async (): Promise<void> => {
      const beside: Promise<void>[] = [];
      while (!failing && !this.#closed && monotonicMs() < until) {
        const next = queue.shift();
        if (!next) break;
        const event = this.#eventOf(next, claim);
        if (event === null) {
          unsent.push(postpone(next, POSTPONE_MS));
          continue;
        }
        const startedAt = monotonicMs();
        const answer = await this.#send(next, event.body, target);
        place.progress();
        const outcome = sentOf(next, answer, startedAt, event.test, target.sealAnswer);
        sent.push(outcome);
        failing ||= !outcome.received;
        if (outcome.received && queue.length > 0 && workers < SENDS_AT_ONCE) {
          workers += 1;
          beside.push(worker());
        }
      }
      await Promise.all(beside);
    };
    await worker();
    return { sent, unsent };
  }

  /** One that is not there or does not open stops no other; somebody must look into it. */
  #eventOf(delivery: DueDelivery, claim: Claim): DecryptedEvent | null {
    const { organizationId, eventId } = delivery;
    try {
      return claim.eventOf(delivery, claim.secrets(organizationId).dataKey);
    } catch (error) {
      this.#deps.log.error(
        { ...errorFields(error), organizationId, event: eventId },
        'an event does not open, and cannot be delivered',
      );
      return null;
    }
  }

  async #send(delivery: DueDelivery, body: Buffer, target: Target): Promise<SendResult> {
    const signature = signatureHeaders({ id: delivery.eventId, timestamp: realTime(), body }, target.secrets);
    const answer = await this.#sender.send({
      url: target.url,
      headers: {
        ...(target.staticHeader ? { [target.staticHeader.name]: target.staticHeader.value } : {}),
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Caudal-Webhooks/1.0',
        ...signature,
      },
      body,
    });
    this.#attempts.add({
      result: answer.kind === 'answered' ? `${Math.floor(answer.status / 100)}xx` : answer.reason,
    });
    return answer;
  }

  async #record(turns: readonly Turn[]): Promise<void> {
    const disabled = await this.#deps.system.transaction('record deliveries', async (tx) => {
      await recordAttempts(
        tx,
        turns.flatMap((turn) => turn.results),
        monotonicMs(),
      );
      const failing = await releaseQueues(
        tx,
        turns.map((turn) => turn.release),
      );
      const givenUp = new Set(
        failing
          .filter(({ failingSeconds }) => failingSeconds >= GIVEN_UP_AFTER_SECONDS)
          .map(({ endpointId }) => endpointId),
      );
      const useless = turns.flatMap(({ release: { organizationId, endpointId }, sealedAddress, gone }) => {
        const reason = gone ? 'gone' : givenUp.has(endpointId) ? 'no_success_5d' : null;
        return reason === null ? [] : [{ organizationId, id: endpointId, sealedAddress, reason }];
      });
      const disabled = await disableEndpoints(tx, useless);
      await pauseQueues(tx, disabled);
      return disabled;
    });
    for (const { organizationId, id, reason } of disabled) {
      this.#disabled.add({});
      this.#deps.log.error(
        { organizationId, webhookEndpointId: id, reason },
        'A WEBHOOK ENDPOINT WAS DISABLED: its events are held until it is enabled again',
      );
    }
  }
}

/** A line that fails is tried with one delivery at a time. */
function mostOf({ failures, backlogged }: EndpointQueue): number {
  if (failures > 0) return 1;
  return backlogged ? BACKLOGGED_BATCH_SIZE : BATCH_SIZE;
}

function withMost(queue: EndpointQueue) {
  return { ...queue, limit: mostOf(queue) };
}
