import type { Deps } from '../../deps.ts';
import { Circuit } from '../../kit/circuit.ts';
import type { Log } from '../../kit/log.ts';
import type { Rail, RailAnswer } from '../../rails/contract.ts';

const NOT_SENT: RailAnswer<never> = { kind: 'unknown', cause: 'the circuit is open', sent: false };

/** Calls a rail behind a circuit breaker, which pauses calls to an unavailable rail. Logs answers that decide nothing. */
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

  /** While the circuit is open, one item is enough as a probe: leasing the whole backlog would only load the database. */
  batchLimit(limit: number): number {
    return this.#circuit.open ? 1 : limit;
  }

  /** @returns an answer for each item, in order; while the circuit is open, nothing is sent and all are unknown */
  async call<Item, Value>(
    operation: string,
    items: readonly Item[],
    send: (items: readonly Item[]) => Promise<readonly RailAnswer<Value>[]>,
  ): Promise<readonly RailAnswer<Value>[]> {
    if (items.length === 0) return [];
    if (!this.#circuit.allows()) return items.map(() => NOT_SENT);
    let answers: readonly RailAnswer<Value>[];
    try {
      answers = await send(items);
    } catch (error) {
      this.#circuit.failed();
      throw error;
    }
    if (answers.some(({ kind }) => kind === 'yes' || kind === 'no')) this.#circuit.succeeded();
    else this.#circuit.failed();
    logUndecided(this.#deps.log, { rail: this.#rail, operation }, answers);
    return answers;
  }
}

/** Logs the number of answers that are unknown or `not_now`, with the cause of the first. */
export function logUndecided(
  log: Log,
  call: { readonly rail: Rail; readonly operation: string; readonly payinId?: string },
  answers: readonly RailAnswer<unknown>[],
): void {
  const unknown = answers.filter((answer) => answer.kind === 'unknown');
  if (unknown.length > 0)
    log.warn(
      { code: 'rail_outcome_unknown', ...call, count: unknown.length, reason: unknown[0]?.cause ?? '' },
      'rail call had an unknown outcome',
    );
  const deferred = answers.filter((answer) => answer.kind === 'not_now');
  if (deferred.length > 0)
    log.warn(
      { code: 'rail_deferred', ...call, count: deferred.length, reason: deferred[0]?.cause ?? '' },
      'rail accepts nothing now; the call is repeated later',
    );
}
