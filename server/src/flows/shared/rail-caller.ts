import type { Deps } from '../../deps.ts';
import { Circuit } from '../../kit/circuit.ts';
import type { Rail, RailAnswer } from '../../rails/contract.ts';

const UNANSWERED: RailAnswer<never> = { kind: 'unknown', cause: 'the circuit is open' };

/** Calls to a rail behind a circuit: what it leaves unclear is told, and a rail that is away is left alone for a while. */
export class RailCaller {
  readonly #deps: Pick<Deps, 'log'>;
  readonly #rail: Rail;
  readonly #circuit: Circuit;

  constructor(deps: Pick<Deps, 'log'>, rail: Rail, failuresToOpen: number) {
    this.#deps = deps;
    this.#rail = rail;
    this.#circuit = new Circuit({ failuresToOpen, restMs: 1000 });
  }

  get open(): boolean {
    return this.#circuit.open;
  }

  get resting(): boolean {
    return this.#circuit.resting;
  }

  /** A rail that is away is asked about one now and then; claiming all that wait would only load the database. */
  atMost(limit: number): number {
    return this.#circuit.open ? 1 : limit;
  }

  /** @returns an answer for each item, in order; unknown for all while the circuit is open */
  async call<Item, Value>(
    operation: string,
    items: readonly Item[],
    ask: (items: readonly Item[]) => Promise<readonly RailAnswer<Value>[]>,
  ): Promise<readonly RailAnswer<Value>[]> {
    if (items.length === 0) return [];
    if (!this.#circuit.allows()) return items.map(() => UNANSWERED);
    let answers: readonly RailAnswer<Value>[];
    try {
      answers = await ask(items);
    } catch (error) {
      this.#circuit.failed();
      throw error;
    }
    const unclear = answers.filter((answer) => answer.kind === 'unknown');
    if (unclear.length === answers.length) this.#circuit.failed();
    else this.#circuit.succeeded();
    if (unclear.length > 0)
      this.#deps.log.warn(
        { rail: this.#rail, operation, count: unclear.length, reason: unclear[0]?.cause ?? '' },
        'the rail gave no clear answer',
      );
    return answers;
  }
}
