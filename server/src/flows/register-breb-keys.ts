import type { SystemDeps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { monotonicMs } from '../kit/clock.ts';
import { errorFields } from '../kit/log.ts';
import type { Counter } from '../kit/metrics.ts';
import type { OrganizationKeys } from '../organizations/organization-keys.ts';
import { claimDueKeys, type RegistrationResult, recordRegistrations } from '../payins/breb-key.store.ts';
import { openCustomer } from '../payins/customer.seal.ts';
import { declinePayins } from '../payins/payin-outcome.store.ts';
import type { CollectOrder, Opened, RailAnswer, RailErrorCode } from '../rails/contract.ts';

/** Beyond this the freshly minted are left to the workers, who find them in the database: memory holds nothing that matters. */
const MOST_WAITING = 20_000;
const CALLS_AT_ONCE = 2;
/** A key alone goes at once; under load a call gathers what was minted since the last one began. */
const BETWEEN_CALLS_MS = 50;

interface Minted {
  readonly order: CollectOrder;
  readonly attempts: number;
}

/**
 * Brings keys to the network, many in one call. A process hands over the keys it has just committed; workers take what
 * is due and nobody is at. Either way the claim on the row decides whose result counts.
 */
export class KeyRegistrar {
  readonly #deps: SystemDeps;
  readonly #keys: OrganizationKeys;
  readonly #registered: Counter;
  #waiting: Minted[] = [];
  readonly #calls = new Set<Promise<void>>();
  #lastCallAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;

  constructor(deps: SystemDeps, keys: OrganizationKeys) {
    this.#deps = deps;
    this.#keys = keys;
    this.#registered = deps.metrics.counter(
      'caudal_breb_key_registrations_total',
      'Answers of the network to key registrations, by answer.',
    );
  }

  /** Keys this process has minted, committed and claimed. */
  minted(order: CollectOrder): void {
    if (this.#waiting.length >= MOST_WAITING) return;
    this.#waiting.push({ order, attempts: 0 });
    this.#work();
  }

  /** @returns how many due keys were found; call again at once while there are any */
  async sweep(): Promise<number> {
    const most = this.#deps.rails.BRE_B.abilities.openAtOnce;
    const due = await this.#deps.system.transaction((tx) => claimDueKeys(tx, this.#deps.claimToken, most));
    if (due.length === 0) return 0;
    const secrets = await this.#keys.of(new Set(due.map((key) => key.organizationId)));
    await this.#register(
      due.map((key) => ({
        attempts: key.attempts,
        order: {
          reference: key.key,
          payinId: key.payinId,
          amount: key.amount,
          expiresAt: key.expiresAt,
          description: '',
          payer: openCustomer(
            secrets(key.organizationId).dataKey,
            key.sealedCustomer,
            key.organizationId,
            key.payinId,
          ),
          bank: null,
        },
      })),
    );
    return due.length;
  }

  /** Sends what is left, once. What the network does not take is due in its row, and a worker finds it. */
  async close(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    const most = this.#deps.rails.BRE_B.abilities.openAtOnce;
    while (this.#waiting.length > 0) this.#call(this.#waiting.splice(0, most));
    await Promise.all(this.#calls);
  }

  #work(): void {
    if (this.#timer !== null || this.#waiting.length === 0 || this.#calls.size >= CALLS_AT_ONCE) return;
    const most = this.#deps.rails.BRE_B.abilities.openAtOnce;
    const wait = this.#waiting.length >= most ? 0 : this.#lastCallAt + BETWEEN_CALLS_MS - monotonicMs();
    if (wait <= 0) return this.#call(this.#waiting.splice(0, most));
    this.#timer = setTimeout(() => {
      this.#timer = null;
      this.#work();
    }, wait);
  }

  #call(batch: readonly Minted[]): void {
    this.#lastCallAt = monotonicMs();
    const call = this.#register(batch)
      .catch((error: unknown) =>
        this.#deps.log.error(errorFields(error), 'key registrations could not be recorded'),
      )
      .finally(() => {
        this.#calls.delete(call);
        this.#work();
      });
    this.#calls.add(call);
  }

  async #register(batch: readonly Minted[]): Promise<void> {
    const answers = await this.#deps.rails.BRE_B.open(batch.map((minted) => minted.order));
    this.#report(answers);
    const results = batch.map((minted, index) => resultOf(minted, answers[index]));
    const errorCodes = new Map(
      batch.map(({ order }, index) => [order.reference, errorCodeOf(answers[index])]),
    );
    const sorted = results.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    await this.#deps.system.transaction(async (tx) => {
      const recorded = await recordRegistrations(tx, this.#deps.claimToken, sorted);
      // A key that cannot be paid is no offer: its payin ends with it.
      const refused = recorded.flatMap(({ key, organizationId, payinId }) => {
        const errorCode = errorCodes.get(key);
        return errorCode ? [{ organizationId, id: payinId, errorCode }] : [];
      });
      await declinePayins(tx, refused);
    });
  }

  #report(answers: readonly RailAnswer<Opened>[]): void {
    for (const answer of answers) this.#registered.add({ answer: answer.kind });
    const log = this.#deps.log;
    const refused = answers.filter((answer) => answer.kind === 'no');
    if (refused.length > 0)
      log.error(
        { rail: 'BRE_B', operation: 'open', count: refused.length, reason: refused[0]?.railCode ?? '' },
        'the network refused keys of ours',
      );
    const unclear = answers.filter((answer) => answer.kind === 'unknown');
    if (unclear.length > 0)
      log.warn(
        { rail: 'BRE_B', operation: 'open', count: unclear.length, reason: unclear[0]?.cause ?? '' },
        'the rail gave no clear answer',
      );
  }
}

function errorCodeOf(answer: RailAnswer<Opened> | undefined): RailErrorCode | null {
  return answer?.kind === 'no' ? answer.errorCode : null;
}

function resultOf(minted: Minted, answer: RailAnswer<Opened> | undefined): RegistrationResult {
  const key = minted.order.reference;
  if (answer?.kind === 'yes') return { key, refusal: null, retryAfterMs: null };
  if (answer?.kind === 'no') return { key, refusal: answer.railCode, retryAfterMs: null };
  return { key, refusal: null, retryAfterMs: backoffMs(minted.attempts + 1, 500, 10_000) };
}
