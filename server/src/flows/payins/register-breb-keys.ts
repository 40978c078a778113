import { openCustomer } from '../../customers/customer.seal.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { Circuit } from '../../kit/circuit.ts';
import { monotonicMs } from '../../kit/clock.ts';
import { freshToken, uuidv7 } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { Counter } from '../../kit/metrics.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import type { OrganizationSecrets } from '../../organizations/organization.ts';
import {
  type DueKey,
  leaseDueKeys,
  type RegistrationResult,
  recordRegistrations,
} from '../../payins/breb-key.store.ts';
import { insertNotices } from '../../rail-notices/notice.store.ts';
import type { CollectionStatus, CollectOrder, Opened, RailAnswer } from '../../rails/contract.ts';

/** Beyond this the freshly minted are left to the workers, who find them in the database: memory holds nothing that matters. */
const MOST_WAITING = 20_000;
/** Nearly as long as a claim lasts: what has waited longer in memory is a worker's by now. */
const HELD_FOR_MS = 15_000;
const CALLS_AT_ONCE = 2;
/** A key alone goes at once; under load a call gathers what was minted since the last one began. */
const BETWEEN_CALLS_MS = 50;
/**
 * For what is not to be registered now: a payin that has expired and waits to be closed, or one that cannot be read and
 * waits for an operator. Out of the way of the others, and not forgotten.
 */
const PUT_ASIDE_MS = 3_600_000;

interface Claimed {
  readonly order: CollectOrder;
  readonly leaseToken: string;
  readonly attempts: number;
  readonly since: number;
}

/**
 * Brings keys to the network, many in one call. A process hands over the keys it has just committed; workers take what
 * is due and nobody is at. Either way the claim on the row decides whose result counts.
 */
export class KeyRegistrar {
  readonly #deps: SystemDeps;
  readonly #keys: DataKeys;
  readonly #registered: Counter;
  readonly #circuit = new Circuit({ failuresToOpen: 5, restMs: 1000 });
  readonly #calls = new Set<Promise<void>>();
  #waiting: Claimed[] = [];
  #lastCallAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: SystemDeps, keys: DataKeys) {
    this.#deps = deps;
    this.#keys = keys;
    this.#registered = deps.metrics.counter(
      'caudal_breb_key_registrations_total',
      'Answers of the network to key registrations, by answer.',
    );
  }

  get circuitOpen(): boolean {
    return this.#circuit.open;
  }

  /** A key this process has minted, committed and claimed. */
  minted(order: CollectOrder, leaseToken: string): void {
    if (this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push({ order, leaseToken, attempts: 0, since: monotonicMs() });
    this.#work();
  }

  /** @returns how many due keys were found; call again at once while there are any */
  async sweep(): Promise<number> {
    // A network that is away is asked about one key now and then; claiming all that wait would only load the database.
    if (this.#circuit.resting || this.#deps.railPauses.allPaused('BRE_B')) return 0;
    const limit = this.#circuit.open ? 1 : this.#deps.rails.BRE_B.capabilities.maxOpenBatch;
    const leaseToken = freshToken();
    const excludedOrganizations = this.#deps.railPauses.pausedOrganizations('BRE_B');
    const due = await this.#deps.system.transaction('lease keys', (tx) =>
      leaseDueKeys(tx, leaseToken, limit, excludedOrganizations),
    );
    if (due.length === 0) return 0;
    const secrets = await this.#keys.of(new Set(due.map((key) => key.organizationId)));
    const readable: Claimed[] = [];
    const aside: RegistrationResult[] = [];
    const putAside = (key: DueKey) =>
      aside.push({ key: key.key, leaseToken, refusal: null, retryAfterMs: PUT_ASIDE_MS });
    for (const key of due) {
      if (key.expired) {
        putAside(key);
        continue;
      }
      try {
        readable.push({
          order: orderOf(key, secrets),
          leaseToken,
          attempts: key.attempts,
          since: monotonicMs(),
        });
      } catch (error) {
        this.#deps.log.error(
          { ...errorFields(error), payinId: key.payinId },
          'the customer of a payin does not open',
        );
        putAside(key);
      }
    }
    if (aside.length > 0) await this.#record(aside, []);
    if (readable.length > 0) await this.#register(readable);
    return due.length;
  }

  /** Sends what is left, once. What the network does not take is due in its row, and a worker finds it. */
  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    const limit = this.#deps.rails.BRE_B.capabilities.maxOpenBatch;
    while (this.#waiting.length > 0) this.#call(this.#waiting.splice(0, limit));
    await Promise.all(this.#calls);
  }

  #work(): void {
    if (this.#timer !== null || this.#waiting.length === 0 || this.#calls.size >= CALLS_AT_ONCE) return;
    const limit = this.#deps.rails.BRE_B.capabilities.maxOpenBatch;
    const wait = this.#waiting.length >= limit ? 0 : this.#lastCallAt + BETWEEN_CALLS_MS - monotonicMs();
    if (wait <= 0) return this.#call(this.#waiting.splice(0, limit));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#work();
    }, wait);
  }

  #call(batch: readonly Claimed[]): void {
    this.#lastCallAt = monotonicMs();
    const held = batch.filter((claimed) => monotonicMs() - claimed.since < HELD_FOR_MS);
    const call = this.#register(held)
      .catch((error: unknown) =>
        this.#deps.log.error(errorFields(error), 'key registrations could not be recorded'),
      )
      .finally(() => {
        this.#calls.delete(call);
        this.#work();
      });
    this.#calls.add(call);
  }

  async #register(batch: readonly Claimed[]): Promise<void> {
    if (batch.length === 0) return;
    const answers = await this.#ask(batch);
    const refused = batch.flatMap(({ order }, index) => {
      const answer = answers[index];
      return answer?.kind === 'no' ? [{ key: order.reference, errorCode: answer.errorCode }] : [];
    });
    const closings = await this.#close(refused.map(({ key }) => key));
    await this.#record(
      batch.map((claimed, index) => resultOf(claimed, answers[index], closings.get(claimed.order.reference))),
      refused.filter(({ key }) => neverTaken(closings.get(key))),
    );
  }

  /**
   * A payin ends with the refusal of its key, so the key must not be payable either; closing also holds for a key that was
   * never taken. And it tells whether it was: the refusal of a repeat may mean that an earlier call, whose answer was
   * lost, had been carried out and the key paid or ended since.
   */
  async #close(keys: readonly string[]): Promise<Map<string, RailAnswer<CollectionStatus> | undefined>> {
    if (keys.length === 0) return new Map();
    const answers = await this.#deps.rails.BRE_B.close(keys);
    return new Map(keys.map((key, index) => [key, answers[index]]));
  }

  async #ask(batch: readonly Claimed[]): Promise<readonly RailAnswer<Opened>[]> {
    if (!this.#circuit.allows()) return batch.map(() => ({ kind: 'unknown', cause: 'the circuit is open' }));
    try {
      const answers = await this.#deps.rails.BRE_B.open(batch.map((claimed) => claimed.order));
      if (answers.every((answer) => answer.kind === 'unknown')) this.#circuit.failed();
      else this.#circuit.succeeded();
      this.#report(answers);
      return answers;
    } catch (error) {
      this.#circuit.failed();
      throw error;
    }
  }

  async #record(results: readonly RegistrationResult[], refused: readonly Refused[]): Promise<void> {
    const errorCodes = new Map(refused.map(({ key, errorCode }) => [key, errorCode]));
    const sorted = results.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    await this.#deps.system.transaction('record keys', async (tx) => {
      const recorded = await recordRegistrations(tx, sorted);
      // A key that cannot be paid is no offer: the refusal is kept as the rail's word, and its payin ends with it.
      const refusals = recorded.flatMap(({ key, organizationId }) => {
        const errorCode = errorCodes.get(key);
        if (!errorCode) return [];
        const id = uuidv7(this.#deps.clock.now(), this.#deps.cell);
        const update = { kind: 'refused' as const, errorCode };
        return [
          {
            id,
            organizationId,
            rail: 'BRE_B' as const,
            about: 'payin' as const,
            noticeId: null,
            reference: key,
            update,
            sealedRaw: null,
          },
        ];
      });
      await insertNotices(tx, refusals);
    });
    if (refused.length > 0) this.#deps.signals.raise('payin_notices');
  }

  #report(answers: readonly RailAnswer<Opened>[]): void {
    for (const answer of answers) this.#registered.add({ answer: answer.kind });
    const { log } = this.#deps;
    const refused = answers.filter((answer) => answer.kind === 'no');
    const unclear = answers.filter((answer) => answer.kind === 'unknown');
    const about = { rail: 'BRE_B', operation: 'open' };
    if (refused.length > 0) {
      log.error(
        { ...about, count: refused.length, reason: refused[0]?.railCode ?? '' },
        'the network refused keys of ours',
      );
    }
    if (unclear.length > 0) {
      log.warn(
        { ...about, count: unclear.length, reason: unclear[0]?.cause ?? '' },
        'the rail gave no clear answer',
      );
    }
  }
}

interface Refused {
  readonly key: string;
  readonly errorCode: Extract<RailAnswer<Opened>, { kind: 'no' }>['errorCode'];
}

function orderOf(key: DueKey, secrets: (organizationId: string) => OrganizationSecrets): CollectOrder {
  const { dataKey } = secrets(key.organizationId);
  return {
    reference: key.key,
    payinId: key.payinId,
    amount: key.amount,
    expiresAt: key.expiresAt,
    description: '',
    payer: openCustomer(dataKey, key.sealedCustomer, {
      table: 'payins',
      organizationId: key.organizationId,
      id: key.payinId,
    }),
    bank: null,
  };
}

/** Closed, and nothing ever came of it. */
function neverTaken(closing: RailAnswer<CollectionStatus> | undefined): boolean {
  return closing?.kind === 'yes' && closing.value.state === 'closed';
}

function resultOf(
  { order, leaseToken, attempts }: Claimed,
  answer: RailAnswer<Opened> | undefined,
  closing: RailAnswer<CollectionStatus> | undefined,
): RegistrationResult {
  const key = order.reference;
  if (answer?.kind === 'yes') return { key, leaseToken, refusal: null, retryAfterMs: null };
  if (answer?.kind === 'no' && neverTaken(closing))
    return { key, leaseToken, refusal: answer.railCode, retryAfterMs: null };
  // The network has had it, and something came of it: it is registered, and what came of it is asked about in its time.
  if (answer?.kind === 'no' && closing?.kind === 'yes')
    return { key, leaseToken, refusal: null, retryAfterMs: null };
  return { key, leaseToken, refusal: null, retryAfterMs: backoffMs(attempts + 1, 500, 10_000) };
}
