import { JsonClient } from '../../kit/json-client.ts';
import type {
  Capabilities,
  CollectionStatus,
  CollectOrder,
  Opened,
  RailAnswer,
  RailBank,
  RailConnector,
} from '../contract.ts';
import { bankListAnswer } from './bank-list.ts';
import { openedAnswer, statusAnswers, transaction } from './translate.ts';

const ANSWER_WITHIN_MS = 10_000;

const CAPABILITIES: Omit<Capabilities, 'maxProcessingMs'> = {
  rail: 'PSE',
  maxOpenBatch: 1,
  maxStatusBatch: 500,
  maxCloseBatch: 0,
  opensWhilePayerWaits: true,
  needsPayer: true,
  answerWithinMs: ANSWER_WITHIN_MS,
};

interface PseOptions {
  readonly url: string;
  readonly entity: string;
  readonly secret: string;
  /** The longest PSE takes with a request, its gateway's queues included, by its own documentation. */
  readonly maxProcessingMs: number;
}

/** Collections on PSE: one bank transaction each, idempotent and queryable by a reference of ours. */
export class PseConnector implements RailConnector {
  readonly capabilities: Capabilities;
  readonly #http: JsonClient;
  readonly #authorization: string;

  constructor(options: PseOptions) {
    this.capabilities = { ...CAPABILITIES, maxProcessingMs: options.maxProcessingMs };
    this.#http = new JsonClient(options.url, 32);
    this.#authorization = `Basic ${Buffer.from(`${options.entity}:${options.secret}`).toString('base64')}`;
  }

  open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<Opened>[]> {
    return Promise.all(
      orders.map(async (order) => {
        const body = await this.#call('POST', '/v1/transactions', transaction(order));
        return body.kind === 'unknown' ? body : readable(() => openedAnswer(order, body.value));
      }),
    );
  }

  async ask(references: readonly string[]): Promise<readonly RailAnswer<CollectionStatus>[]> {
    const body = await this.#call('POST', '/v1/transactions/query', { references });
    // It will not read the call as a whole: in halves, until only the reference it dislikes is left unknown.
    if (body.kind === 'unknown' && body.disliked && references.length > 1) {
      const half = Math.ceil(references.length / 2);
      const first = await this.ask(references.slice(0, half));
      return [...first, ...(await this.ask(references.slice(half)))];
    }
    if (body.kind === 'unknown') return references.map(() => body);
    try {
      return statusAnswers(references, body.value);
    } catch {
      return references.map(() => ({ kind: 'unknown', cause: 'unreadable' }));
    }
  }

  close(): Promise<readonly RailAnswer<CollectionStatus>[]> {
    return Promise.reject(new Error('PSE cannot close a transaction: capabilities.maxCloseBatch is 0'));
  }

  readonly banks = async (): Promise<RailAnswer<readonly RailBank[]>> => {
    const body = await this.#call('GET', '/v1/banks');
    return body.kind === 'unknown' ? body : readable(() => bankListAnswer(body.value));
  };

  disconnect(): Promise<void> {
    return this.#http.close();
  }

  async #call(
    method: 'GET' | 'POST',
    path: string,
    body?: object,
  ): Promise<{ kind: 'answer'; value: unknown } | { kind: 'unknown'; cause: string; disliked: boolean }> {
    try {
      const headers = { authorization: this.#authorization };
      const answer = await this.#http.call({
        method,
        path,
        headers,
        body,
        signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
      });
      const disliked = DISLIKED.has(answer.status);
      if (answer.status !== 200) return { kind: 'unknown', cause: `PSE answered ${answer.status}`, disliked };
      return { kind: 'answer', value: answer.body };
    } catch (error) {
      return { kind: 'unknown', cause: error instanceof Error ? error.name : 'unreadable', disliked: false };
    }
  }
}

/** PSE says that the call itself is at fault. */
const DISLIKED: ReadonlySet<number> = new Set([400, 413, 422]);

function readable<T>(read: () => RailAnswer<T>): RailAnswer<T> {
  try {
    return read();
  } catch {
    return { kind: 'unknown', cause: 'unreadable' };
  }
}
