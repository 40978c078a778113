import { monotonicMs } from '../kit/clock.ts';
import type { Histogram, Metrics } from '../kit/metrics.ts';
import { isWithoutEffect, type PayoutConnector, type RailAnswer, type RailConnector } from './contract.ts';

/** The name of a connector in metrics: two connectors may serve the same rail. */
type ConnectorName = 'breb' | 'pse';

const OPERATIONS = {
  breb: ['open', 'query_status', 'close', 'pay', 'query_orders', 'resolve'],
  pse: ['open', 'query_status', 'banks'],
} as const;
type Operation = (typeof OPERATIONS)[ConnectorName][number];

const RESULTS = ['yes', 'no', 'not_now', 'unknown'] as const;
type Result = (typeof RESULTS)[number];

/** Rails answer within seconds; their timeouts are below 30 seconds. */
const BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/** Observes the duration and results of all calls to the rails. */
export class RailCallTimes {
  readonly #seconds: Histogram;

  constructor(metrics: Metrics) {
    this.#seconds = metrics.histogram(
      'caudal_rail_call_seconds',
      'Duration of calls to rails, by connector, operation and result; a call about several payments counts once for each.',
      BUCKETS,
      (['breb', 'pse'] as const).flatMap((connector) =>
        OPERATIONS[connector].flatMap((operation) =>
          RESULTS.map((result) => ({ connector, operation, result })),
        ),
      ),
    );
  }

  observe(name: ConnectorName, connector: RailConnector): RailConnector {
    const { banks } = connector;
    return {
      capabilities: connector.capabilities,
      open: (orders) => this.#batch(name, 'open', orders.length, () => connector.open(orders)),
      queryStatus: (references) =>
        this.#batch(name, 'query_status', references.length, () => connector.queryStatus(references)),
      close: (references) => this.#batch(name, 'close', references.length, () => connector.close(references)),
      banks: banks && (() => this.#single(name, 'banks', () => banks())),
      // Operator commands list payments, in a process without a metrics server.
      listPayments: connector.listPayments,
      disconnect: () => connector.disconnect(),
    };
  }

  observePayouts(name: ConnectorName, connector: PayoutConnector): PayoutConnector {
    return {
      capabilities: connector.capabilities,
      pay: (orders) => this.#batch(name, 'pay', orders.length, () => connector.pay(orders)),
      queryOrders: (ids) => this.#batch(name, 'query_orders', ids.length, () => connector.queryOrders(ids)),
      resolve: (key) => this.#single(name, 'resolve', () => connector.resolve(key)),
      listOrders: connector.listOrders,
    };
  }

  async #single<T>(
    connector: ConnectorName,
    operation: Operation,
    call: () => Promise<RailAnswer<T>>,
  ): Promise<RailAnswer<T>> {
    const [answer] = await this.#batch(connector, operation, 1, async () => [await call()]);
    return answer as RailAnswer<T>;
  }

  /** An exception counts as `unknown`: nothing is known about any payment of the call. */
  async #batch<T>(
    connector: ConnectorName,
    operation: Operation,
    size: number,
    call: () => Promise<readonly RailAnswer<T>[]>,
  ): Promise<readonly RailAnswer<T>[]> {
    const startedAt = monotonicMs();
    let answers: readonly RailAnswer<T>[] | null = null;
    try {
      answers = await call();
      return answers;
    } finally {
      const seconds = (monotonicMs() - startedAt) / 1000;
      const counts = answers ? countResults(answers) : new Map<Result, number>([['unknown', size]]);
      for (const [result, count] of counts)
        this.#seconds.observe(seconds, { connector, operation, result }, count);
    }
  }
}

function countResults(answers: readonly RailAnswer<unknown>[]): Map<Result, number> {
  const counts = new Map<Result, number>();
  for (const answer of answers) {
    const result = toResult(answer);
    counts.set(result, (counts.get(result) ?? 0) + 1);
  }
  return counts;
}

/** A request that did not reach the rail counts as `not_now`: nothing happened, and it may be repeated. */
function toResult(answer: RailAnswer<unknown>): Result {
  return isWithoutEffect(answer) ? 'not_now' : answer.kind;
}
