import type { Customer } from '../../customers/customer.ts';
import { decryptValue } from '../../db/columns.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { newLeaseToken, uuidv7 } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Counter } from '../../kit/metrics.ts';
import { runInTraces } from '../../kit/trace-context.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import {
  type DueKey,
  leaseDueKeys,
  type RegistrationResult,
  recordRegistrations,
} from '../../payins/breb-key.store.ts';
import { insertNotices, refusalNotice } from '../../rail-notices/notice.store.ts';
import type { CollectionStatus, CollectOrder, OpenedCollection, RailAnswer } from '../../rails/contract.ts';
import { RailCaller } from '../shared/rail-caller.ts';
import { retryDelayMs } from '../shared/retry-delay.ts';

/** Above this limit new keys are left to the workers, which find them in the database: nothing in memory is essential. */
const MAX_QUEUED = 20_000;
/** Slightly less than a lease: a key queued longer may already be leased by a worker. */
const MAX_QUEUED_MS = 15_000;
const MAX_CONCURRENT_CALLS = 2;
/** A single key is sent immediately; under load a call batches the keys queued since the last call started. */
const MIN_CALL_INTERVAL_MS = 50;
/** Delay for a key that cannot be registered now: its payin expired and will be closed, or its customer is unreadable. */
const POSTPONE_MS = 3_600_000;

interface LeasedKey {
  readonly order: CollectOrder;
  readonly traceContext: Buffer | null;
  readonly leaseToken: string;
  readonly attempts: number;
  readonly queuedAt: number;
}

/**
 * Registers Bre-B keys at the network in batches. The creating process enqueues the keys it has committed; workers lease
 * due keys. In both cases only the result of the current lease holder is recorded.
 */
export class KeyRegistrar {
  readonly #deps: SystemDeps;
  readonly #dataKeys: DataKeys;
  readonly #registered: Counter;
  readonly #caller: RailCaller;
  readonly #calls = new Set<Promise<void>>();
  #queue: LeasedKey[] = [];
  #lastCallAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: SystemDeps, dataKeys: DataKeys) {
    this.#deps = deps;
    this.#dataKeys = dataKeys;
    this.#caller = new RailCaller(deps, 'BRE_B', 5);
    this.#registered = deps.metrics.counter(
      'caudal_breb_key_registrations_total',
      'Key registrations at the network, by answer.',
      { answer: ['yes', 'no', 'not_now', 'unknown'] },
    );
  }

  get circuitOpen(): boolean {
    return this.#caller.open;
  }

  /** Enqueues a key that this process has committed and leased. */
  enqueue(order: CollectOrder, leaseToken: string, traceContext: Buffer | null): void {
    if (this.#queue.length >= MAX_QUEUED) return;
    this.#queue.push({ order, traceContext, leaseToken, attempts: 0, queuedAt: monotonicMs() });
    this.#sendQueued();
  }

  /** @returns the number of due keys; call again immediately while it is not zero */
  async sweep(): Promise<number> {
    if (this.#caller.resting || this.#deps.railPauses.allPaused('BRE_B')) return 0;
    const limit = this.#caller.batchLimit(this.#deps.rails.BRE_B.capabilities.maxOpenBatch);
    const leaseToken = newLeaseToken();
    const excludedOrganizations = this.#deps.railPauses.pausedOrganizations('BRE_B');
    const due = await this.#deps.system.transaction('lease keys', (tx) =>
      leaseDueKeys(tx, leaseToken, limit, excludedOrganizations),
    );
    if (due.length === 0) return 0;
    const secrets = await this.#dataKeys.load(new Set(due.map((key) => key.organizationId)));
    const registrable: LeasedKey[] = [];
    const postponed: RegistrationResult[] = [];
    const postpone = (key: DueKey) =>
      postponed.push({ key: key.key, leaseToken, refusal: null, retryAfterMs: POSTPONE_MS });
    for (const key of due) {
      if (key.expired) {
        postpone(key);
        continue;
      }
      try {
        registrable.push({
          order: toCollectOrder(key, secrets),
          traceContext: key.traceContext,
          leaseToken,
          attempts: key.attempts,
          queuedAt: monotonicMs(),
        });
      } catch (error) {
        this.#deps.log.error(
          { ...errorFields(error), code: 'payin_customer_decrypt_failed', payinId: key.payinId },
          'failed to decrypt payin customer (wrong master key?)',
        );
        postpone(key);
      }
    }
    if (postponed.length > 0) await this.#record(postponed, []);
    if (registrable.length > 0) await this.#register(registrable);
    return due.length;
  }

  /** Sends the queued keys once. Keys that the network does not accept stay due, and a worker retries them. */
  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    const limit = this.#deps.rails.BRE_B.capabilities.maxOpenBatch;
    while (this.#queue.length > 0) this.#call(this.#queue.splice(0, limit));
    await Promise.all(this.#calls);
  }

  #sendQueued(): void {
    if (this.#timer !== null || this.#queue.length === 0 || this.#calls.size >= MAX_CONCURRENT_CALLS) return;
    const limit = this.#deps.rails.BRE_B.capabilities.maxOpenBatch;
    const delayMs = this.#queue.length >= limit ? 0 : this.#lastCallAt + MIN_CALL_INTERVAL_MS - monotonicMs();
    if (delayMs <= 0) return this.#call(this.#queue.splice(0, limit));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#sendQueued();
    }, delayMs);
  }

  #call(batch: readonly LeasedKey[]): void {
    this.#lastCallAt = monotonicMs();
    const current = batch.filter((leased) => monotonicMs() - leased.queuedAt < MAX_QUEUED_MS);
    const call = this.#register(current)
      .catch((error: unknown) =>
        this.#deps.log.error(
          { ...errorFields(error), code: 'key_registration_record_failed' },
          'failed to record key registrations',
        ),
      )
      .finally(() => {
        this.#calls.delete(call);
        this.#sendQueued();
      });
    this.#calls.add(call);
  }

  async #register(batch: readonly LeasedKey[]): Promise<void> {
    if (batch.length === 0) return;
    const traces = batch.map(({ order: { reference }, traceContext }) => ({ reference, traceContext }));
    return runInTraces(traces, () => this.#openAndRecord(batch));
  }

  async #openAndRecord(batch: readonly LeasedKey[]): Promise<void> {
    const answers = await this.#open(batch);
    const rejected = batch.flatMap(({ order }, index) => {
      const answer = answers[index];
      return answer?.kind === 'no' ? [{ key: order.reference, errorCode: answer.errorCode }] : [];
    });
    const closings = await this.#close(rejected.map(({ key }) => key));
    await this.#record(
      batch.map((leased, index) =>
        toRegistrationResult(leased, answers[index], closings.get(leased.order.reference)),
      ),
      rejected.filter(({ key }) => closedUnused(closings.get(key))),
    );
  }

  /**
   * Closes rejected keys. The payin ends with the rejection, so the key must not be payable; closing also works for a key
   * that was never registered. The status shows whether it was: the rejection of a repeated registration may mean that an
   * earlier call, whose answer was lost, registered the key, and the key was paid or ended since.
   */
  async #close(keys: readonly string[]): Promise<Map<string, RailAnswer<CollectionStatus> | undefined>> {
    if (keys.length === 0) return new Map();
    const answers = await this.#deps.rails.BRE_B.close(keys);
    return new Map(keys.map((key, index) => [key, answers[index]]));
  }

  #open(batch: readonly LeasedKey[]): Promise<readonly RailAnswer<OpenedCollection>[]> {
    const orders = batch.map((leased) => leased.order);
    return this.#caller.call('open', orders, async (some) => {
      const answers = await this.#deps.rails.BRE_B.open(some);
      this.#report(answers);
      return answers;
    });
  }

  async #record(results: readonly RegistrationResult[], rejected: readonly RejectedKey[]): Promise<void> {
    const errorCodes = new Map(rejected.map(({ key, errorCode }) => [key, errorCode]));
    const sorted = results.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    await this.#deps.system.transaction('record keys', async (tx) => {
      const recorded = await recordRegistrations(tx, sorted);
      // A rejected key cannot be paid: the rejection is stored as a notice, and applying it ends the payin.
      const rejections = recorded.flatMap(({ key, organizationId }) => {
        const errorCode = errorCodes.get(key);
        if (!errorCode) return [];
        const id = uuidv7(this.#deps.clock.now(), this.#deps.cell);
        return [refusalNotice({ organizationId, id, rail: 'BRE_B', reference: key }, errorCode)];
      });
      await insertNotices(tx, rejections);
    });
    if (rejected.length > 0) this.#deps.signals.raise('payin_notices');
  }

  #report(answers: readonly RailAnswer<OpenedCollection>[]): void {
    for (const answer of answers) this.#registered.add({ answer: answer.kind });
    const rejected = answers.filter((answer) => answer.kind === 'no');
    const [first] = rejected;
    if (!first) return;
    const call = { rail: 'BRE_B', operation: 'open' };
    this.#deps.log.error(
      { code: 'breb_key_rejected', ...call, count: rejected.length, reason: first.railCode },
      'network rejected Bre-B keys',
    );
  }
}

interface RejectedKey {
  readonly key: string;
  readonly errorCode: Extract<RailAnswer<OpenedCollection>, { kind: 'no' }>['errorCode'];
}

function toCollectOrder(key: DueKey, secrets: (organizationId: string) => OrganizationSecrets): CollectOrder {
  const { dataKey } = secrets(key.organizationId);
  const rowId = { organizationId: key.organizationId, id: key.payinId };
  return {
    reference: key.key,
    payinId: key.payinId,
    amount: key.amount,
    expiresAt: key.expiresAt,
    description: '',
    payer: decryptValue('payins', 'customer', rowId, key.encryptedCustomer, dataKey) as Customer | null,
    bank: null,
  };
}

/** Whether the key is closed and was never paid. */
function closedUnused(closing: RailAnswer<CollectionStatus> | undefined): boolean {
  return closing?.kind === 'yes' && closing.value.state === 'closed';
}

function toRegistrationResult(
  { order, leaseToken, attempts }: LeasedKey,
  answer: RailAnswer<OpenedCollection> | undefined,
  closing: RailAnswer<CollectionStatus> | undefined,
): RegistrationResult {
  const key = order.reference;
  if (answer?.kind === 'yes') return { key, leaseToken, refusal: null, retryAfterMs: null };
  if (answer?.kind === 'no' && closedUnused(closing))
    return { key, leaseToken, refusal: answer.railCode, retryAfterMs: null };
  // An earlier call registered the key, and it has a result: a scheduled poll reads it.
  if (answer?.kind === 'no' && closing?.kind === 'yes')
    return { key, leaseToken, refusal: null, retryAfterMs: null };
  const retryAfterMs = retryDelayMs(answer, backoffMs(attempts + 1, 500, 10_000));
  return { key, leaseToken, refusal: null, retryAfterMs };
}
