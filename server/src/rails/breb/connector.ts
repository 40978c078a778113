import type { Abilities, CollectOrder, Opened, RailAnswer, RailConnector, Standing } from '../contract.ts';
import { BrebClient } from './client.ts';
import { openedAnswers, registration, standingAnswers } from './translate.ts';

const ANSWER_WITHIN_MS = 5000;

const ABILITIES: Abilities = {
  rail: 'BRE_B',
  openAtOnce: 500,
  askAtOnce: 500,
  closeAtOnce: 500,
  opensWhilePayerWaits: false,
  needsPayer: false,
  refusesDuplicates: true,
  answerWithinMs: ANSWER_WITHIN_MS,
  longestProcessingMs: 20_000,
};

interface BrebOptions {
  readonly url: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** Collections on Bre-B: single-use keys of ours, registered at the node; the reference is the key itself. */
export class BrebConnector implements RailConnector {
  readonly abilities = ABILITIES;
  readonly banks = null;
  readonly #client: BrebClient;

  constructor(options: BrebOptions) {
    this.#client = new BrebClient({ ...options, deadlineMs: ANSWER_WITHIN_MS });
  }

  async open(orders: readonly CollectOrder[]): Promise<readonly RailAnswer<Opened>[]> {
    return this.#call('/v1/keys/register', orders, registration, openedAnswers);
  }

  async ask(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    return this.#call('/v1/keys/query', references, asItIs, standingAnswers);
  }

  async close(references: readonly string[]): Promise<readonly RailAnswer<Standing>[]> {
    return this.#call('/v1/keys/close', references, asItIs, standingAnswers);
  }

  disconnect(): Promise<void> {
    return this.#client.close();
  }

  /**
   * Whatever goes wrong on the way, in the status or in the reading of the answer: unknown for all of them. A call that
   * the node will not read as a whole is sent again in halves, until only the item it dislikes is left unknown.
   */
  async #call<Item, Value>(
    path: string,
    items: readonly Item[],
    toWire: (item: Item) => unknown,
    translate: (items: readonly Item[], body: unknown) => RailAnswer<Value>[],
  ): Promise<RailAnswer<Value>[]> {
    try {
      const answer = await this.#client.post(path, { keys: items.map(toWire) });
      if (answer.status === 200) return translate(items, answer.body);
      if (UNREADABLE.has(answer.status) && items.length > 1) {
        const half = Math.ceil(items.length / 2);
        const first = await this.#call(path, items.slice(0, half), toWire, translate);
        return [...first, ...(await this.#call(path, items.slice(half), toWire, translate))];
      }
      return items.map(() => ({ kind: 'unknown', cause: `the node answered ${answer.status}` }));
    } catch (error) {
      const cause = error instanceof Error ? error.name : 'unreadable';
      return items.map(() => ({ kind: 'unknown', cause }));
    }
  }
}

/** The node says that the call itself is at fault. */
const UNREADABLE: ReadonlySet<number> = new Set([400, 413, 422]);

function asItIs(reference: string): string {
  return reference;
}
