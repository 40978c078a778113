import type { JsonResponse } from '../../kit/json-client.ts';
import { type Cents, cents } from '../../kit/money.ts';
import { isNotConnected } from '../../kit/network-failure.ts';
import {
  type Capabilities,
  type CollectionStatus,
  type CollectOrder,
  type ListedOrder,
  type ListedPayment,
  type OpenedCollection,
  type OrderStatus,
  type PayOrder,
  type PayoutCapabilities,
  type PayoutConnector,
  type RailAnswer,
  type RailConnector,
  type RailPage,
  type Resolution,
  unanswered,
} from '../contract.ts';
import { type BrebAccess, BrebClient, TokenUnavailable } from './client.ts';
import { listedPaymentsAnswer, openedAnswers, statusAnswers, toRegistration } from './translate.ts';
import {
  listedOrdersAnswer,
  orderStatusAnswers,
  payAnswers,
  resolutionAnswer,
  toOrderBody,
} from './translate-orders.ts';

const ANSWER_WITHIN_MS = 5000;

const CAPABILITIES: Omit<
  Capabilities & PayoutCapabilities,
  'rejectsDuplicateOrders' | 'maxProcessingMs' | 'maxAmount'
> = {
  rail: 'BRE_B',
  maxOpenBatch: 500,
  maxStatusBatch: 500,
  maxCloseBatch: 500,
  maxPayBatch: 100,
  opensWhilePayerWaits: false,
  needsPayer: false,
  answerWithinMs: ANSWER_WITHIN_MS,
  resolutionMs: 600_000,
  minAmount: cents(1),
};

interface BrebOptions extends BrebAccess {
  /** The NIT that pays the orders. */
  readonly payerDocument: string;
  /** Whether the node rejects a second order under the same end-to-end id, by its documentation. */
  readonly rejectsDuplicateOrders: boolean;
  /** Maximum time the node takes to process a request including gateway queues, by its documentation. */
  readonly maxProcessingMs: number;
  /** The network's maximum per transaction. */
  readonly maxAmount: Cents;
}

interface BulkCall<Item, Value> {
  readonly path: string;
  readonly wrap: (items: readonly Item[]) => object;
  readonly translate: (items: readonly Item[], body: unknown) => RailAnswer<Value>[];
  /** Whether a batch that the node rejects as a whole may be resent in parts. */
  readonly repeatable: boolean;
}

/**
 * Collections on Bre-B: our single-use keys, registered at the node; the reference is the key itself. Payouts: orders to
 * receivers' keys, under our end-to-end id.
 */
export class BrebConnector implements RailConnector, PayoutConnector {
  readonly capabilities: Capabilities & PayoutCapabilities;
  readonly banks = null;
  readonly #client: BrebClient;
  readonly #payerDocument: string;

  constructor({
    payerDocument,
    rejectsDuplicateOrders,
    maxProcessingMs,
    maxAmount,
    ...options
  }: BrebOptions) {
    this.capabilities = { ...CAPABILITIES, rejectsDuplicateOrders, maxProcessingMs, maxAmount };
    this.#client = new BrebClient({ ...options, tokenDeadlineMs: ANSWER_WITHIN_MS });
    this.#payerDocument = payerDocument;
  }

  async open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<OpenedCollection>[]> {
    const wrap = (some: readonly CollectOrder[]) => ({ keys: some.map(toRegistration) });
    return this.#call(
      { path: '/v1/keys/register', wrap, translate: openedAnswers, repeatable: true },
      orders,
    );
  }

  async queryStatus(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#call(
      { path: '/v1/keys/query', wrap: toKeysBody, translate: statusAnswers, repeatable: true },
      references,
    );
  }

  async close(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#call(
      { path: '/v1/keys/close', wrap: toKeysBody, translate: statusAnswers, repeatable: true },
      references,
    );
  }

  async pay(orders: readonly PayOrder[]): Promise<readonly RailAnswer<'accepted' | 'duplicate'>[]> {
    const wrap = (some: readonly PayOrder[]) => ({
      orders: some.map((order) => toOrderBody(order, this.#payerDocument)),
    });
    // A batch that was split has been sent twice: a rejection may then be caused by the duplicate.
    let calls = 0;
    const translate = (some: readonly PayOrder[], body: unknown) =>
      payAnswers(some, body).map((answer): typeof answer =>
        answer.kind === 'no' && calls > 1
          ? unanswered(`rejected with ${answer.railCode} after the batch was split`)
          : answer,
      );
    const counted = (some: readonly PayOrder[]) => {
      calls += 1;
      return wrap(some);
    };
    const repeatable = this.capabilities.rejectsDuplicateOrders;
    return this.#call({ path: '/v1/orders', wrap: counted, translate, repeatable }, orders);
  }

  async queryOrders(endToEndIds: readonly string[]): Promise<readonly RailAnswer<OrderStatus>[]> {
    const wrap = (some: readonly string[]) => ({ endToEndIds: some });
    return this.#call(
      { path: '/v1/orders/query', wrap, translate: orderStatusAnswers, repeatable: true },
      endToEndIds,
    );
  }

  async resolve(key: string): Promise<RailAnswer<Resolution>> {
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
      const answer = await this.#client.consult('/v1/directory/resolve', { key }, signal);
      return rateLimited(answer) ?? resolutionAnswer(key, answer.status, answer.body);
    } catch (error) {
      return toFailure(error);
    }
  }

  readonly listOrders = (since: Date, cursor: string | null): Promise<RailAnswer<RailPage<ListedOrder>>> =>
    this.#list('/v1/orders/list', since, cursor, listedOrdersAnswer);

  readonly listPayments = (
    since: Date,
    cursor: string | null,
  ): Promise<RailAnswer<RailPage<ListedPayment>>> =>
    this.#list('/v1/payments/list', since, cursor, listedPaymentsAnswer);

  async #list<Item>(
    path: string,
    since: Date,
    cursor: string | null,
    translate: (body: unknown) => RailAnswer<RailPage<Item>>,
  ): Promise<RailAnswer<RailPage<Item>>> {
    try {
      const body = { since: since.toISOString(), cursor };
      const answer = await this.#client.post(path, body, AbortSignal.timeout(ANSWER_WITHIN_MS));
      if (answer.status === 200) return translate(answer.body);
      return rateLimited(answer) ?? unanswered(`the node answered ${answer.status}`);
    } catch (error) {
      return toFailure(error);
    }
  }

  disconnect(): Promise<void> {
    return this.#client.close();
  }

  /**
   * Any failure of the transport, the status or the parsing means unknown for all items; 429 means that the node took none
   * of them. A batch that the node rejects as a whole is resent in halves, until only the offending item is unknown; orders
   * are split only if the node rejects duplicates. One deadline covers all parts: after it, this call sends nothing more.
   */
  async #call<Item, Value>(
    call: BulkCall<Item, Value>,
    items: readonly Item[],
    { signal, isPart }: { readonly signal: AbortSignal; readonly isPart: boolean } = {
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      isPart: false,
    },
  ): Promise<RailAnswer<Value>[]> {
    try {
      const answer = await this.#client.post(call.path, call.wrap(items), signal);
      if (answer.status === 200) return call.translate(items, answer.body);
      if (call.repeatable && BATCH_REJECTED.has(answer.status) && items.length > 1) {
        const half = Math.ceil(items.length / 2);
        const part = { signal, isPart: true };
        const first = await this.#call(call, items.slice(0, half), part);
        return [...first, ...(await this.#call(call, items.slice(half), part))];
      }
      const limited = isPart ? null : rateLimited(answer);
      return items.map(() => limited ?? unanswered(`the node answered ${answer.status}`));
    } catch (error) {
      const failure = toFailure(error);
      // The items of a part have been sent before, with the whole batch.
      return items.map(() => (isPart ? { ...failure, sent: true } : failure));
    }
  }
}

/** Statuses with which the node rejects the batch itself. */
const BATCH_REJECTED: ReadonlySet<number> = new Set([400, 413, 422]);

function toKeysBody(references: readonly string[]): object {
  return { keys: references };
}

/** The node rejects a call above its rate limit before it reads the items. */
function rateLimited({ status, retryAfterMs }: JsonResponse): RailAnswer<never> | null {
  return status === 429 ? { kind: 'not_now', cause: 'the node answered 429', retryAfterMs } : null;
}

/** Only the error name: a message may quote request or response data, such as a person's key. */
function toFailure(error: unknown): Extract<RailAnswer<never>, { kind: 'unknown' }> {
  const cause = error instanceof Error ? error.name : 'unreadable';
  return { kind: 'unknown', cause, sent: !(error instanceof TokenUnavailable || isNotConnected(error)) };
}
