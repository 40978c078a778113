import { JsonClient } from '../../kit/json-client.ts';
import { readListedPayments } from '../../kit/listed-payments.ts';
import type { Cents } from '../../kit/money.ts';
import { isNotConnected } from '../../kit/network-failure.ts';
import type { TlsMaterial } from '../../kit/strict-tls.ts';
import {
  type Capabilities,
  type CollectionStatus,
  type CollectOrder,
  type ListedPayment,
  type OpenedCollection,
  type RailAnswer,
  type RailBank,
  type RailConnector,
  type RailPage,
  unanswered,
} from '../contract.ts';
import { bankListAnswer } from './bank-list.ts';
import { openedAnswer, statusAnswers, toTransaction } from './translate.ts';

const ANSWER_WITHIN_MS = 10_000;

const CAPABILITIES: Omit<Capabilities, 'maxProcessingMs' | 'minAmount' | 'maxAmount'> = {
  rail: 'PSE',
  maxOpenBatch: 1,
  maxStatusBatch: 500,
  maxCloseBatch: 0,
  opensWhilePayerWaits: true,
  needsPayer: true,
  answerWithinMs: ANSWER_WITHIN_MS,
};

/** The address of PSE and our credentials there. */
export interface PseAccess {
  readonly url: string;
  readonly entity: string;
  readonly secret: string;
  readonly tls: TlsMaterial | null;
}

interface PseOptions extends PseAccess {
  /** Maximum time PSE takes to process a request including gateway queues, by its documentation. */
  readonly maxProcessingMs: number;
  /** Bounds of one payment. */
  readonly minAmount: Cents;
  readonly maxAmount: Cents;
  /** Whether bank pages over plain http are accepted; never in production. */
  readonly allowsHttpPages: boolean;
}

/** Collections on PSE: one bank transaction each, idempotent and queryable by our reference. */
export class PseConnector implements RailConnector {
  readonly capabilities: Capabilities;
  readonly #http: JsonClient;
  readonly #authorization: string;
  readonly #allowsHttpPages: boolean;

  constructor(options: PseOptions) {
    const { maxProcessingMs, minAmount, maxAmount } = options;
    this.capabilities = { ...CAPABILITIES, maxProcessingMs, minAmount, maxAmount };
    this.#http = new JsonClient(options.url, 32, { tls: options.tls });
    this.#allowsHttpPages = options.allowsHttpPages;
    this.#authorization = `Basic ${Buffer.from(`${options.entity}:${options.secret}`).toString('base64')}`;
  }

  open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<OpenedCollection>[]> {
    return Promise.all(
      orders.map(async (order) => {
        const body = await this.#call('POST', '/v1/transactions', toTransaction(order));
        return body.kind === 'answer'
          ? unknownIfUnreadable(() => openedAnswer(order, body.value, this.#allowsHttpPages))
          : body;
      }),
    );
  }

  async queryStatus(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    const body = await this.#call('POST', '/v1/transactions/query', { references });
    // PSE rejects the batch as a whole: query it in halves, until only the offending reference is unknown.
    if (body.kind === 'unknown' && body.batchRejected && references.length > 1) {
      const half = Math.ceil(references.length / 2);
      const first = await this.queryStatus(references.slice(0, half));
      return [...first, ...(await this.queryStatus(references.slice(half)))];
    }
    if (body.kind !== 'answer') return references.map(() => body);
    try {
      return statusAnswers(references, body.value, this.#allowsHttpPages);
    } catch {
      return references.map(() => unanswered('unreadable'));
    }
  }

  close(): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return Promise.reject(new Error('PSE cannot close a transaction: capabilities.maxCloseBatch is 0'));
  }

  readonly banks = async (): Promise<RailAnswer<readonly RailBank[]>> => {
    const body = await this.#call('GET', '/v1/banks');
    return body.kind === 'answer' ? unknownIfUnreadable(() => bankListAnswer(body.value)) : body;
  };

  readonly listPayments = async (
    since: Date,
    cursor: string | null,
  ): Promise<RailAnswer<RailPage<ListedPayment>>> => {
    const body = await this.#call('POST', '/v1/payments/list', { since: since.toISOString(), cursor });
    if (body.kind !== 'answer') return body;
    const value = readListedPayments(body.value);
    return value ? { kind: 'yes', value } : unanswered('unreadable');
  };

  disconnect(): Promise<void> {
    return this.#http.close();
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<
    | { kind: 'answer'; value: unknown }
    | { kind: 'not_now'; cause: string; retryAfterMs: number | null }
    | { kind: 'unknown'; cause: string; sent: boolean; batchRejected: boolean }
  > {
    try {
      const headers = { authorization: this.#authorization };
      const answer = await this.#http.call({
        method,
        path,
        headers,
        body,
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const { status, retryAfterMs } = answer;
      if (status === 200) return { kind: 'answer', value: answer.body };
      const cause = `PSE answered ${status}`;
      // Above its rate limit, PSE rejects a request before it reads it.
      if (status === 429) return { kind: 'not_now', cause, retryAfterMs };
      return { kind: 'unknown', cause, sent: true, batchRejected: BATCH_REJECTED.has(status) };
    } catch (error) {
      return {
        kind: 'unknown',
        cause: error instanceof Error ? error.name : 'unreadable',
        sent: !isNotConnected(error),
        batchRejected: false,
      };
    }
  }
}

/** Statuses with which PSE rejects the batch itself. */
const BATCH_REJECTED: ReadonlySet<number> = new Set([400, 413, 422]);

function unknownIfUnreadable<T>(read: () => RailAnswer<T>): RailAnswer<T> {
  try {
    return read();
  } catch {
    return unanswered('unreadable');
  }
}
