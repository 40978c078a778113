import type { Customer } from '../../customers/customer.ts';
import { classifyFailure } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { Batcher } from '../../kit/batch/batcher.ts';
import { Circuit } from '../../kit/circuit.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { resourceReference } from '../../kit/resource-reference.ts';
import { runInTraces } from '../../kit/trace-context.ts';
import type { PayinRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { checkoutUrl } from '../../payins/payin.view.ts';
import { type PageResult, recordPages } from '../../payins/pse-payin.store.ts';
import { insertNotices, type NewNotice, refusalNotice } from '../../rail-notices/notice.store.ts';
import {
  type CollectOrder,
  isWithoutEffect,
  type OpenedCollection,
  type RailAnswer,
  unanswered,
} from '../../rails/contract.ts';
import { logUndecided } from '../shared/rail-caller.ts';
import { retryDelayMs } from '../shared/retry-delay.ts';

/** Above this limit (the rail is slow), a creation answers without the bank page, and a worker requests it later. */
const MAX_CONCURRENT = 64;

/** How long payers are not offered PSE after its circuit opened or a probe failed. */
const NOT_OFFERED_MS = 15_000;

const UNANSWERED = unanswered('the rail did not answer for this order');

/**
 * A payin to open at PSE. Every attempt sends the same order, unless the shop was renamed in between; PSE identifies orders
 * by their reference.
 */
export interface PseOrder {
  readonly organizationId: string;
  readonly organizationNumber: number;
  readonly payin: Payin;
  readonly payer: Customer;
  /** Shown by the bank and on the payer's statement. */
  readonly description: string;
  readonly leaseToken: string;
  readonly attempts: number;
  /** Since the last time an order for this payin may have been sent to the rail; null when none was. */
  readonly sentMsAgo: number | null;
}

/**
 * Requests bank pages from PSE and records the answers. The creating process uses it right after the commit, workers use it
 * for due payins. Both send the same PSE reference, derived from the payin id, so together they create one transaction.
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
      verdict: classifyFailure,
      groupOf: ({ result }) => result.organizationId,
      maxBatch: 200,
      maxQueue: 20_000,
      lanes: 1,
    });
  }

  get circuitOpen(): boolean {
    return this.#circuit.open;
  }

  /** Whether PSE has just failed repeatedly: payers are not offered it. After a while one of them is the probe. */
  get down(): boolean {
    return this.#circuit.failedWithin(NOT_OFFERED_MS);
  }

  /** How many requests the circuit allows now: all, one as a probe, or none while it rests. */
  get allowance(): 'all' | 'one' | 'none' {
    if (this.#circuit.resting) return 'none';
    return this.#circuit.open ? 'one' : 'all';
  }

  /** The request for this payin that is in flight in this process, if any: a repeated creation waits for it. */
  inFlight(payinId: string): Promise<PayinRow | null> | null {
    return this.#opening.get(payinId) ?? null;
  }

  /**
   * Requests the bank page and records the answer. This process must hold the lease on the payin.
   * @returns the payin as recorded, or null when the lease was lost or the result could not be recorded
   */
  open(order: PseOrder): Promise<PayinRow | null> {
    const opening = this.#open(order)
      .catch((error: unknown) => {
        this.#deps.log.error(
          { ...errorFields(error), code: 'pse_answer_record_failed', payinId: order.payin.id },
          'failed to record PSE answer',
        );
        return null;
      })
      .finally(() => {
        if (this.#opening.get(order.payin.id) === opening) this.#opening.delete(order.payin.id);
      });
    this.#opening.set(order.payin.id, opening);
    return opening;
  }

  /** Abandons a payin that expired before its page was known: sends no order, and schedules a status poll. */
  async abandon(row: {
    readonly organizationId: string;
    readonly id: string;
    readonly leaseToken: string;
  }): Promise<void> {
    await this.#recorder.submit({ result: { ...row, kind: 'expired' }, rejection: null });
  }

  async #open(order: PseOrder): Promise<PayinRow | null> {
    const { answer, retryAfterMs } = await this.#answer(order);
    return this.#recorder.submit(toOpening(this.#deps, order, answer, retryAfterMs));
  }

  async #answer(order: PseOrder): Promise<Answered> {
    const retryAfterMs = backoffMs(order.attempts + 1, 1000, 30_000);
    const unsent = (cause: string): Answered => ({
      answer: { kind: 'unknown', cause, sent: false },
      retryAfterMs,
    });
    if (this.#opening.size > MAX_CONCURRENT) return unsent('too many concurrent requests');
    if (!this.#circuit.allows()) return unsent('the circuit is open');
    try {
      const answer = await this.#request(order);
      if (answer.kind === 'yes' || answer.kind === 'no') this.#circuit.succeeded();
      else this.#circuit.failed();
      const { maxProcessingMs } = this.#deps.rails.PSE.capabilities;
      if (answer.kind === 'no' && order.sentMsAgo !== null && order.sentMsAgo < maxProcessingMs) {
        // The rejection is not conclusive yet: an order sent before may still be in progress. Retry after that is over.
        const inconclusive = unanswered(`${answer.railCode} for a repeated order`);
        this.#logUndecided(order, inconclusive);
        return { answer: inconclusive, retryAfterMs: maxProcessingMs + retryAfterMs };
      }
      this.#logUndecided(order, answer);
      return { answer, retryAfterMs: retryDelayMs(answer, retryAfterMs) };
    } catch (error) {
      this.#circuit.failed();
      throw error;
    }
  }

  /**
   * The first attempt sends the order directly. A later attempt queries the rail by the same reference first, because an
   * earlier order may have arrived although its answer was lost.
   */
  #request(order: PseOrder): Promise<RailAnswer<OpenedCollection>> {
    const collection = toCollectOrder(this.#deps, order);
    const { traceContext } = order.payin;
    return runInTraces([{ reference: collection.reference, traceContext }], () =>
      this.#send(order, collection),
    );
  }

  async #send(order: PseOrder, collection: CollectOrder): Promise<RailAnswer<OpenedCollection>> {
    const rail = this.#deps.rails.PSE;
    if (order.sentMsAgo !== null) {
      const [known] = await rail.queryStatus([collection.reference]);
      if (known?.kind !== 'yes') return known ?? UNANSWERED;
      if (known.value.opened) return { kind: 'yes', value: known.value.opened };
    }
    const [answer] = await rail.open([collection]);
    return answer ?? UNANSWERED;
  }

  #logUndecided(order: PseOrder, answer: RailAnswer<OpenedCollection>): void {
    logUndecided(this.#deps.log, { rail: 'PSE', operation: 'open', payinId: order.payin.id }, [answer]);
  }

  async close(): Promise<void> {
    await Promise.all(this.#opening.values());
    await this.#recorder.close();
  }
}

interface Answered {
  readonly answer: RailAnswer<OpenedCollection>;
  /** Applies to an answer that decides nothing. */
  readonly retryAfterMs: number;
}

/** The result of an order. A rejection is also stored as a notice, and applied like the others. */
interface Opening {
  readonly result: PageResult;
  readonly rejection: NewNotice | null;
}

async function record(deps: Deps, openings: readonly Opening[]): Promise<(PayinRow | null)[]> {
  const results = openings.map((opening) => opening.result);
  const organizations = new Set(results.map((result) => result.organizationId));
  const rows = await deps.batch.write('record pages', organizations, async (tx) => {
    const recorded = await recordPages(tx, results);
    const ids = new Set(recorded.map((row) => row.id));
    const rejections = openings.flatMap(({ result, rejection }) =>
      rejection && ids.has(result.id) ? [rejection] : [],
    );
    await insertNotices(tx, rejections);
    return recorded;
  });
  if (openings.some(({ rejection }) => rejection !== null)) deps.signals.raise('payin_notices');
  if (results.some(({ kind }) => kind === 'never_sent')) deps.signals.raise('pse_polling');
  const byId = new Map(rows.map((row) => [row.id, row]));
  return results.map((result) => byId.get(result.id) ?? null);
}

function toCollectOrder(
  deps: Deps,
  { payin, payer, description, organizationNumber }: PseOrder,
): CollectOrder {
  if (payin.source.rail !== 'PSE') throw new Error(`payin ${payin.id} is not a PSE payin`);
  return {
    reference: resourceReference(payin.id, organizationNumber),
    payinId: payin.id,
    amount: payin.amount,
    expiresAt: payin.expiresAt,
    description,
    payer,
    bank: {
      code: payin.source.bank,
      business: payin.source.personType === 'BUSINESS',
      returnUrl: checkoutUrl(deps, organizationNumber, payin.id),
    },
  };
}

function toOpening(
  deps: Deps,
  order: PseOrder,
  answer: RailAnswer<OpenedCollection>,
  retryAfterMs: number,
): Opening {
  const { organizationId, leaseToken } = order;
  const { id } = order.payin;
  const row = { organizationId, id, leaseToken };
  if (answer.kind === 'yes' && answer.value.pageUrl !== null) {
    const { pageUrl, transactionId, traceId } = answer.value;
    return { result: { ...row, kind: 'page', url: pageUrl, transactionId, cus: traceId }, rejection: null };
  }
  if (answer.kind === 'no') {
    const reference = resourceReference(id, order.organizationNumber);
    const refusal = {
      organizationId,
      id: uuidv7(deps.clock.now(), deps.cell),
      rail: 'PSE',
      reference,
    } as const;
    return { result: { ...row, kind: 'refused' }, rejection: refusalNotice(refusal, answer.errorCode) };
  }
  // A payer is waiting: the link takes another attempt instead. A direct payin has no other way to be paid, so it is retried.
  if (isWithoutEffect(answer) && order.sentMsAgo === null && order.payin.paymentLinkId !== null)
    return { result: { ...row, kind: 'never_sent' }, rejection: null };
  return { result: { ...row, kind: 'unknown', retryAfterMs }, rejection: null };
}
