import type { Customer } from '../../customers/customer.ts';
import { verdictOf } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import { Circuit } from '../../kit/circuit.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import type { PayinRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { checkoutUrl } from '../../payins/payin.view.ts';
import { type PageResult, recordPages } from '../../payins/pse-payin.store.ts';
import { insertNotices, type NewNotice } from '../../rail-notices/notice.store.ts';
import type { CollectOrder, Opened, RailAnswer } from '../../rails/contract.ts';

/** More than this wait for a slow rail already: a creation answers at once, and a worker goes on with it. */
const MOST_AT_ONCE = 64;

const UNANSWERED: RailAnswer<never> = { kind: 'unknown', cause: 'the rail did not answer for this order' };

/** A payin as PSE must know it. Everything in it is fixed by the payin, so every attempt sends the same order. */
export interface PseOrder {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly payin: Payin;
  readonly payer: Customer;
  readonly leaseToken: string;
  readonly attempts: number;
  /** Since an order for this payin may last have left for the rail; null when none has. */
  readonly sentMsAgo: number | null;
}

/**
 * Asks PSE for bank pages and writes down what it said. Used at once by the process that created the payin, and by
 * workers for what is due; the reference at PSE is the payin's id either way, so both together create one transaction.
 */
export class PseOpener {
  readonly #deps: Deps;
  readonly #circuit = new Circuit({ failuresToOpen: 5, restMs: 2000 });
  readonly #recorder: Batcher<Opening, PayinRow | null>;
  readonly #opening = new Map<string, Promise<PayinRow | null>>();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#recorder = new Batcher({
      run: (openings) => record(deps, openings),
      verdict: verdictOf,
      groupOf: ({ result }) => result.organizationId,
      maxBatch: 200,
      maxQueue: 20_000,
      lanes: 1,
    });
  }

  get circuitOpen(): boolean {
    return this.#circuit.open;
  }

  /** How many askings make sense now: all, one as a probe, or none while the circuit rests. */
  get allowance(): 'all' | 'one' | 'none' {
    if (this.#circuit.resting) return 'none';
    return this.#circuit.open ? 'one' : 'all';
  }

  /** The opening of this payin that is under way in this process, if any: a repeat of the request joins it. */
  underWay(payinId: string): Promise<PayinRow | null> | null {
    return this.#opening.get(payinId) ?? null;
  }

  /**
   * Asks the rail and records its answer. The claim on the payin must be this process's.
   * @returns the payin as recorded, or null when its claim was lost or the result could not be written
   */
  open(order: PseOrder): Promise<PayinRow | null> {
    const opening = this.#open(order)
      .catch((error: unknown) => {
        this.#deps.log.error(
          { ...errorFields(error), payinId: order.payin.id },
          'the answer of PSE could not be recorded',
        );
        return null;
      })
      .finally(() => {
        if (this.#opening.get(order.payin.id) === opening) this.#opening.delete(order.payin.id);
      });
    this.#opening.set(order.payin.id, opening);
    return opening;
  }

  /** Its time is over before its page was known: nothing is sent any more, and the rail is asked how it stands. */
  async giveUp(row: {
    readonly organizationId: string;
    readonly id: string;
    readonly leaseToken: string;
  }): Promise<void> {
    await this.#recorder.submit({ result: { ...row, kind: 'expired' }, refusal: null });
  }

  async #open(order: PseOrder): Promise<PayinRow | null> {
    const { answer, retryAfterMs } = await this.#answer(order);
    return this.#recorder.submit(openingOf(this.#deps, order, answer, retryAfterMs));
  }

  async #answer(order: PseOrder): Promise<Answered> {
    const retryAfterMs = backoffMs(order.attempts + 1, 1000, 30_000);
    const unsent = (cause: string): Answered => ({ answer: { kind: 'unknown', cause }, retryAfterMs });
    if (this.#opening.size > MOST_AT_ONCE) return unsent('too many are being opened');
    if (!this.#circuit.allows()) return unsent('the circuit is open');
    try {
      const answer = await this.#ask(order);
      if (answer.kind === 'unknown') this.#circuit.failed();
      else this.#circuit.succeeded();
      const { maxProcessingMs } = this.#deps.rails.PSE.capabilities;
      if (answer.kind === 'no' && order.sentMsAgo !== null && order.sentMsAgo < maxProcessingMs) {
        // A clear word, but not yet the last one: something sent before may still be on its way. Asked again when it cannot.
        const early = { kind: 'unknown', cause: `${answer.railCode} to a repeat` } as const;
        this.#report(order, early);
        return { answer: early, retryAfterMs: maxProcessingMs + retryAfterMs };
      }
      this.#report(order, answer);
      return { answer, retryAfterMs };
    } catch (error) {
      this.#circuit.failed();
      throw error;
    }
  }

  /**
   * The first time the order is simply sent. Later an earlier sending may have arrived although its answer was lost:
   * then the rail is asked by the same reference first.
   */
  async #ask(order: PseOrder): Promise<RailAnswer<Opened>> {
    const rail = this.#deps.rails.PSE;
    const toSend = collectOrder(this.#deps, order);
    if (order.sentMsAgo !== null) {
      const [known] = await rail.ask([toSend.reference]);
      if (known?.kind !== 'yes') return known ?? UNANSWERED;
      if (known.value.opened) return { kind: 'yes', value: known.value.opened };
    }
    const [answer] = await rail.open([toSend]);
    return answer ?? UNANSWERED;
  }

  #report(order: PseOrder, answer: RailAnswer<Opened>): void {
    if (answer.kind !== 'unknown') return;
    this.#deps.log.warn(
      { rail: 'PSE', operation: 'open', reason: answer.cause, payinId: order.payin.id },
      'the rail gave no clear answer',
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#opening.values());
    await this.#recorder.close();
  }
}

interface Answered {
  readonly answer: RailAnswer<Opened>;
  /** If it is unknown. */
  readonly retryAfterMs: number;
}

/** What came of an order, and the rail's refusal if that was it: kept as its word, to be applied with all the others. */
interface Opening {
  readonly result: PageResult;
  readonly refusal: NewNotice | null;
}

async function record(deps: Deps, openings: readonly Opening[]): Promise<(PayinRow | null)[]> {
  const results = openings.map((opening) => opening.result);
  const organizations = new Set(results.map((result) => result.organizationId));
  const rows = await deps.batch.write('record pages', organizations, async (tx) => {
    const recorded = await recordPages(tx, results);
    const ids = new Set(recorded.map((row) => row.id));
    const refusals = openings.flatMap(({ result, refusal }) =>
      refusal && ids.has(result.id) ? [refusal] : [],
    );
    await insertNotices(tx, refusals);
    return recorded;
  });
  if (openings.some(({ refusal }) => refusal !== null)) deps.signals.raise('payin_notices');
  const byId = new Map(rows.map((row) => [row.id, row]));
  return results.map((result) => byId.get(result.id) ?? null);
}

function collectOrder(deps: Deps, { payin, payer, organizationNumber }: PseOrder): CollectOrder {
  if (payin.source.rail !== 'PSE') throw new Error('only PSE payins are opened at PSE');
  return {
    reference: resourceReference(payin.id, organizationNumber),
    payinId: payin.id,
    amount: payin.amount,
    expiresAt: payin.expiresAt,
    description: payin.reference,
    payer,
    bank: {
      code: payin.source.bank,
      business: payin.source.personType === 'BUSINESS',
      returnUrl: checkoutUrl(deps, organizationNumber, payin.id),
    },
  };
}

function openingOf(deps: Deps, order: PseOrder, answer: RailAnswer<Opened>, retryAfterMs: number): Opening {
  const { organizationId, leaseToken } = order;
  const { id } = order.payin;
  const row = { organizationId, id, leaseToken };
  if (answer.kind === 'yes' && answer.value.pageUrl !== null) {
    const { pageUrl, transactionId, traceId } = answer.value;
    return { result: { ...row, kind: 'page', url: pageUrl, transactionId, cus: traceId }, refusal: null };
  }
  if (answer.kind === 'no') {
    return {
      result: { ...row, kind: 'refused' },
      refusal: {
        id: uuidv7(deps.clock.now(), deps.cell),
        organizationId,
        rail: 'PSE',
        about: 'payin',
        noticeId: null,
        reference: resourceReference(id, order.organizationNumber),
        update: { kind: 'refused', errorCode: answer.errorCode },
        sealedRaw: null,
      },
    };
  }
  return { result: { ...row, kind: 'unknown', retryAfterMs }, refusal: null };
}
