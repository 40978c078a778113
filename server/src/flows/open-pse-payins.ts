import { verdictOf } from '../db/failures.ts';
import type { Deps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { Batcher } from '../kit/batch/batcher.ts';
import { Circuit } from '../kit/circuit.ts';
import { uuidToBase32 } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import type { PayinRow } from '../payins/payin.store.ts';
import type { Customer, Payin } from '../payins/payin.ts';
import { checkoutUrl } from '../payins/payin.view.ts';
import { type PageResult, recordPages } from '../payins/pse-payin.store.ts';
import type { CollectOrder, Opened, RailAnswer } from '../rails/contract.ts';

/** A payin as PSE must know it. Everything in it is fixed by the payin, so every attempt sends the same order. */
export interface PseOrder {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly payin: Payin;
  readonly payer: Customer;
  readonly attempts: number;
}

/**
 * Asks PSE for bank pages and writes down what it said. Used at once by the process that created the payin, and by
 * workers for what is due; the reference at PSE is the payin's id either way, so both together create one transaction.
 */
export class PseOpener {
  readonly #deps: Deps;
  readonly #circuit = new Circuit({ failuresToOpen: 5, restMs: 2000 });
  readonly #recorder: Batcher<PageResult, PayinRow | null>;
  readonly #opening = new Map<string, Promise<PayinRow | null>>();

  constructor(deps: Deps) {
    this.#deps = deps;
    this.#recorder = new Batcher({
      run: (results) => record(deps, results),
      verdict: verdictOf,
      groupOf: (result) => result.organizationId,
      maxBatch: 200,
      maxQueue: 20_000,
      lanes: 1,
    });
    deps.metrics.gauge(
      'caudal_rail_circuit_open',
      'One when calls to the rail are held back.',
      () => new Map([['{rail="PSE"}', this.#circuit.open ? 1 : 0]]),
    );
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
      .finally(() => this.#opening.delete(order.payin.id));
    this.#opening.set(order.payin.id, opening);
    return opening;
  }

  async #open(order: PseOrder): Promise<PayinRow | null> {
    const answer = await this.#ask(order);
    return this.#recorder.submit(resultOf(order, answer));
  }

  async #ask(order: PseOrder): Promise<RailAnswer<Opened> | undefined> {
    if (!this.#circuit.allows()) return { kind: 'unknown', cause: 'the circuit is open' };
    const [answer] = await this.#deps.rails.PSE.open([collectOrder(this.#deps, order)]);
    if (answer && answer.kind !== 'unknown') this.#circuit.succeeded();
    else this.#circuit.failed();
    if (answer?.kind === 'unknown')
      this.#deps.log.warn(
        { rail: 'PSE', operation: 'open', reason: answer.cause, payinId: order.payin.id },
        'the rail gave no clear answer',
      );
    return answer;
  }

  async close(): Promise<void> {
    await Promise.all(this.#opening.values());
    await this.#recorder.close();
  }
}

async function record(deps: Deps, results: readonly PageResult[]): Promise<(PayinRow | null)[]> {
  const organizations = new Set(results.map((result) => result.organizationId));
  const rows = await deps.batch.write(organizations, (tx) => recordPages(tx, deps.claimToken, results));
  const byId = new Map(rows.map((row) => [row.id, row]));
  return results.map((result) => byId.get(result.id) ?? null);
}

function collectOrder(deps: Deps, { payin, payer, organizationNumber }: PseOrder): CollectOrder {
  if (payin.source.rail !== 'PSE') throw new Error('only PSE payins are opened at PSE');
  return {
    reference: uuidToBase32(payin.id),
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

function resultOf(order: PseOrder, answer: RailAnswer<Opened> | undefined): PageResult {
  const { organizationId } = order;
  const { id } = order.payin;
  if (answer?.kind === 'yes' && answer.value.pageUrl !== null) {
    return {
      organizationId,
      id,
      kind: 'page',
      url: answer.value.pageUrl,
      transactionId: answer.value.transactionId,
      cus: answer.value.traceId,
    };
  }
  if (answer?.kind === 'no') return { organizationId, id, kind: 'refused', errorCode: answer.errorCode };
  return { organizationId, id, kind: 'unknown', retryAfterMs: backoffMs(order.attempts + 1, 1000, 30_000) };
}
