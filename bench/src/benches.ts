import { benchEngines } from './engines/engines.ts';
import { benchGrowth, type GrowthPart } from './growth/growth.ts';
import { benchIdleStack } from './idle/idle-stack.ts';
import type { Metric } from './metric.ts';
import { benchOverload } from './overload/overload.ts';
import { benchConfirmPayins } from './payins/confirm-payins.ts';
import { benchCreatePayins } from './payins/create-payins.ts';
import { benchPayroll } from './payins/payroll.ts';
import { benchQrPayins } from './payins/qr-payins.ts';
import { benchWaitingPayins } from './payins/waiting-payins.ts';
import { benchWholeLives } from './payins/whole-lives.ts';
import type { Stage } from './stage/stage.ts';
import { benchStarvation } from './starvation/starvation.ts';
import { benchTracingCost } from './tracing/tracing-cost.ts';
import { benchBacklog } from './webhooks/backlog.ts';
import { benchDeliverWebhooks } from './webhooks/deliver-webhooks.ts';
import { benchHangingEndpoints } from './webhooks/hanging-endpoints.ts';

export interface BenchOptions {
  readonly quick: boolean;
  readonly seed: number;
  /** Only these metrics; null: all. */
  readonly only: readonly string[] | null;
  /** Payins in the large database. */
  readonly rows: number;
  /** Duration of churn. */
  readonly minutes: number;
}

export interface Bench {
  /** Ids of the metrics it measures. */
  readonly ids: readonly string[];
  /** Skipped in a quick run. */
  readonly slow?: true;
  /** Runs only when `--only` names it. */
  readonly onlyByName?: true;
  /** Prints its metrics as soon as each is measured. */
  readonly printsItself?: true;
  run(stage: Stage, options: BenchOptions): Promise<readonly Metric[]>;
}

const GROWTH: Readonly<Record<string, GrowthPart>> = {
  P3: 'pages',
  P4: 'creates',
  G1: 'detach',
  G2: 'churn',
};

const R5 = { endpoints: 200, eventsPerSecond: 50 };

/** In execution order. Benches that pause the workers or fill the tables come last. */
export const BENCHES: readonly Bench[] = [
  {
    ids: ['P1', 'P8'],
    run: (stage, { quick, seed }) =>
      benchCreatePayins(
        stage,
        quick
          ? { warmUp: 2, closed: 3, open: 1, pgbench: 1, baselineServer: 0.5 }
          : { warmUp: 6, closed: 20, open: 15, pgbench: 10, baselineServer: 8 },
        seed,
      ),
  },
  {
    ids: ['P5'],
    run: (stage, { quick, seed }) =>
      benchQrPayins(
        stage,
        quick ? { seconds: 1.5, rounds: 1, warmUp: 0.5 } : { seconds: 8, rounds: 2, warmUp: 2 },
        seed,
      ),
  },
  {
    ids: ['P2'],
    run: (stage, { quick, seed }) =>
      benchWholeLives(
        stage,
        quick
          ? { warmUp: 1.5, ours: 3, pgbench: 1, clients: [8, 16, 32] }
          : { warmUp: 5, ours: 25, pgbench: 8, clients: [8, 16, 32, 64] },
        seed,
      ),
  },
  {
    ids: ['C1'],
    run: (stage, { quick }) =>
      benchConfirmPayins(
        stage,
        quick ? { steadySeconds: 2, flood: 500 } : { steadySeconds: 60, flood: 10_000 },
      ),
  },
  {
    ids: ['P10'],
    run: (_stage, { quick }) =>
      benchIdleStack(quick ? { settle: 3, measured: 5 } : { settle: 20, measured: 30 }),
  },
  { ids: ['D1'], run: (stage, { quick }) => benchPayroll(stage, quick ? 1000 : 50_000) },
  {
    ids: ['P6'],
    run: (stage, { quick }) =>
      benchDeliverWebhooks(
        stage,
        quick
          ? { events: 150, rounds: 1, warmUp: 6000, alone: false }
          : { events: 1000, rounds: 5, warmUp: 20_000, alone: true },
      ),
  },
  {
    ids: ['R5'],
    run: (stage, { quick }) =>
      benchHangingEndpoints(
        stage,
        'R5',
        // With few organizations an event has ten deliveries; with many it has one, over more endpoint queues.
        quick
          ? { seconds: 3, sizes: [{ ...R5, organizations: 20 }], alsoHealthy: false }
          : {
              seconds: 30,
              sizes: [20, 200].map((organizations) => ({ ...R5, organizations })),
              alsoHealthy: true,
            },
      ),
  },
  {
    ids: ['E1'],
    slow: true,
    run: (stage) =>
      benchHangingEndpoints(stage, 'E1', {
        seconds: 30,
        sizes: [{ endpoints: 10_000, organizations: 10_000, eventsPerSecond: 1000 }],
        alsoHealthy: true,
      }),
  },
  {
    ids: ['E2'],
    slow: true,
    run: async (stage) => [await benchBacklog(stage, 1_000_000)],
  },
  {
    ids: ['O1', 'O2', 'O3', 'O4', 'O5'],
    slow: true,
    run: (stage) =>
      benchOverload(stage, {
        warmUpSeconds: 35,
        capacitySeconds: 10,
        overloadSeconds: 30,
        calmSeconds: 8,
        neighborSeconds: 8,
        neighborRounds: 3,
      }),
  },
  { ids: ['W1'], slow: true, run: (stage) => benchWaitingPayins(stage, 1_000_000) },
  {
    ids: Object.keys(GROWTH),
    slow: true,
    printsItself: true,
    run: (stage, { only, rows, minutes }) =>
      benchGrowth(stage, {
        rows,
        churnMinutes: minutes,
        only: Object.entries(GROWTH).flatMap(([id, part]) => (only?.includes(id) === false ? [] : [part])),
      }),
  },
  {
    ids: ['STARVATION'],
    onlyByName: true,
    run: (stage, { quick }) =>
      benchStarvation(stage, quick ? { seconds: 5, rounds: 1 } : { seconds: 10, rounds: 4 }),
  },
  {
    ids: ['TRACING'],
    onlyByName: true,
    run: (stage, { quick, seed }) =>
      benchTracingCost(
        stage,
        quick ? { pairs: 2, seconds: 2, warmUp: 1 } : { pairs: 10, seconds: 4, warmUp: 1 },
        seed,
      ),
  },
  {
    // Measures other software too, so it is no part of a run of all metrics.
    ids: ['ENGINES'],
    onlyByName: true,
    run: (stage, { quick }) =>
      benchEngines(
        stage,
        quick ? { rounds: 1, warmUpSeconds: 0.2, seconds: 0.5 } : { rounds: 3, warmUpSeconds: 1, seconds: 4 },
      ),
  },
];
