import type {
  Capabilities,
  CollectionStatus,
  CollectOrder,
  Opened,
  OrderStatus,
  PayOrder,
  PayoutCapabilities,
  PayoutConnector,
  RailAnswer,
  RailConnector,
  Resolution,
} from '../contract.ts';
import { BrebClient } from './client.ts';
import { openedAnswers, registration, statusAnswers } from './translate.ts';
import { orderStatusAnswers, orderToPay, payAnswers, resolutionAnswer } from './translate-orders.ts';

const ANSWER_WITHIN_MS = 5000;

const CAPABILITIES: Omit<Capabilities & PayoutCapabilities, 'rejectsDuplicateOrders' | 'maxProcessingMs'> = {
  rail: 'BRE_B',
  maxOpenBatch: 500,
  maxStatusBatch: 500,
  maxCloseBatch: 500,
  maxPayBatch: 100,
  opensWhilePayerWaits: false,
  needsPayer: false,
  answerWithinMs: ANSWER_WITHIN_MS,
  resolutionMs: 600_000,
};

interface BrebOptions {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The NIT under which orders are paid. */
  readonly payerDocument: string;
  /** The node rejects a second order under one end-to-end id, by its own documentation. */
  readonly rejectsDuplicateOrders: boolean;
  /** The longest the node takes with a request, its gateway's queues included, by its own documentation. */
  readonly maxProcessingMs: number;
}

/** A call about many things at once. */
interface BulkCall<Item, Value> {
  readonly path: string;
  readonly wrap: (items: readonly Item[]) => object;
  readonly translate: (items: readonly Item[], body: unknown) => RailAnswer<Value>[];
  /** Whether what the node would not read as a whole may be sent again in parts. */
  readonly repeatable: boolean;
}

/**
 * Collections on Bre-B: single-use keys of ours, registered at the node; the reference is the key itself. Payouts: orders
 * to other people's keys, under an end-to-end id of ours.
 */
export class BrebConnector implements RailConnector, PayoutConnector {
  readonly capabilities: Capabilities & PayoutCapabilities;
  readonly banks = null;
  readonly #client: BrebClient;
  readonly #payerDocument: string;

  constructor({ payerDocument, rejectsDuplicateOrders, maxProcessingMs, ...options }: BrebOptions) {
    this.capabilities = {
      ...CAPABILITIES,
      rejectsDuplicateOrders: rejectsDuplicateOrders,
      maxProcessingMs: maxProcessingMs,
    };
    this.#client = new BrebClient({ ...options, tokenDeadlineMs: ANSWER_WITHIN_MS });
    this.#payerDocument = payerDocument;
  }

  async open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<Opened>[]> {
    const wrap = (some: readonly CollectOrder[]) => ({ keys: some.map(registration) });
    return this.#call(
      { path: '/v1/keys/register', wrap, translate: openedAnswers, repeatable: true },
      orders,
    );
  }

  async ask(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#call(
      { path: '/v1/keys/query', wrap: asKeys, translate: statusAnswers, repeatable: true },
      references,
    );
  }

  async close(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return this.#call(
      { path: '/v1/keys/close', wrap: asKeys, translate: statusAnswers, repeatable: true },
      references,
    );
  }

  async pay(orders: readonly PayOrder[]): Promise<readonly RailAnswer<'accepted' | 'duplicate'>[]> {
    const wrap = (some: readonly PayOrder[]) => ({
      orders: some.map((order) => orderToPay(order, this.#payerDocument)),
    });
    // What the node would not read as a whole has left twice: a refusal then may be that of a repeat.
    let calls = 0;
    const translate = (some: readonly PayOrder[], body: unknown) =>
      payAnswers(some, body).map((answer): typeof answer =>
        answer.kind === 'no' && calls > 1
          ? { kind: 'unknown', cause: `refused with ${answer.railCode} when it was sent in parts` }
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
      return resolutionAnswer(key, answer.status, answer.body);
    } catch (error) {
      return { kind: 'unknown', cause: causeOf(error) };
    }
  }

  disconnect(): Promise<void> {
    return this.#client.close();
  }

  /**
   * Whatever goes wrong on the way, in the status or in the reading of the answer: unknown for all of them. A call that
   * the node will not read as a whole is sent again in halves, until only the item it dislikes is left unknown; orders
   * only where the node rejects duplicates. All of it within one deadline: after it nothing of this call leaves us any more.
   */
  async #call<Item, Value>(
    call: BulkCall<Item, Value>,
    items: readonly Item[],
    signal: AbortSignal = AbortSignal.timeout(ANSWER_WITHIN_MS),
  ): Promise<RailAnswer<Value>[]> {
    try {
      const answer = await this.#client.post(call.path, call.wrap(items), signal);
      if (answer.status === 200) return call.translate(items, answer.body);
      if (call.repeatable && UNREADABLE.has(answer.status) && items.length > 1) {
        const half = Math.ceil(items.length / 2);
        const first = await this.#call(call, items.slice(0, half), signal);
        return [...first, ...(await this.#call(call, items.slice(half), signal))];
      }
      return items.map(() => ({ kind: 'unknown', cause: `the node answered ${answer.status}` }));
    } catch (error) {
      const cause = causeOf(error);
      return items.map(() => ({ kind: 'unknown', cause }));
    }
  }
}

/** The node says that the call itself is at fault. */
const UNREADABLE: ReadonlySet<number> = new Set([400, 413, 422]);

function asKeys(references: readonly string[]): object {
  return { keys: references };
}

/** The name alone: a message may repeat what was sent or read, a person's key among it. */
function causeOf(error: unknown): string {
  return error instanceof Error ? error.name : 'unreadable';
}
