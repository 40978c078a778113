/** All metrics of the table, measured in this run or not. */
export const SCOREBOARD: readonly {
  readonly id: string;
  readonly description: string;
  readonly target: string;
}[] = [
  { id: 'P1', description: 'creations ÷ pgbench', target: '>= 1, p99 <= 50 ms' },
  { id: 'P2', description: 'full payin lifecycles ÷ pgbench', target: '>= 0.5' },
  { id: 'P3', description: 'page of GET /payins at 10 million rows ÷ at 10 thousand', target: '<= 1.3' },
  { id: 'P4', description: 'cost of a creation at 10 million rows ÷ empty', target: '<= 1.2' },
  { id: 'P5', description: 'QR payins ÷ single-use payins', target: '>= 0.3' },
  { id: 'P6', description: 'deliveries per core ÷ a baseline client', target: '>= 0.5' },
  { id: 'P7', description: "rail confirmation to the payer's screen, p95", target: '<= 500 ms' },
  { id: 'P8', description: 'WAL and commits per payin', target: '<= 3072 bytes, <= 0.1' },
  { id: 'P10', description: 'CPU time of an idle stack', target: '<= 2 % of a core' },
  { id: 'R5', description: 'first attempt while 30 % of endpoints hang, p99', target: '<= 2000 ms' },
  {
    id: 'E1',
    description: 'the same with 3,000 of 10,000 hanging and 1,000 events per second',
    target: '<= 2000 ms',
  },
  {
    id: 'E2',
    description: "another merchant's events while a backlog of a million is delivered, p99",
    target: '<= 2000 ms',
  },
  { id: 'O1', description: 'creations at three times the capacity ÷ the capacity', target: '>= 0.8' },
  { id: 'O2', description: 'p99 of admitted requests meanwhile', target: '<= 1000 ms' },
  { id: 'O3', description: 'recovery time after the overload', target: '<= 10 s' },
  {
    id: 'O4',
    description: 'p99 of other merchants next to one at 50 times its limit ÷ without it',
    target: '<= 1.2',
  },
  { id: 'O5', description: 'CPU time of a rejected request ÷ a served one', target: '<= 0.15' },
  { id: 'G1', description: 'failed requests while months are detached under load', target: '<= 0' },
  { id: 'G2', description: 'growth of the worst value over an hour of churn', target: '<= 1.15' },
  { id: 'C1', description: 'confirmations per second on one balance', target: '>= 950' },
  { id: 'D1', description: 'a payroll, payouts per second', target: '>= 500' },
  {
    id: 'W1',
    description: 'a polling round with one million waiting payins ÷ ten thousand',
    target: '<= 10',
  },
  {
    id: 'ENGINES',
    description: "Caudal's way ÷ the fastest of pg-boss, graphile-worker and DBOS",
    target: '>= 1',
  },
  {
    id: 'STARVATION',
    description: "a merchant's latency beside attacks ÷ beside as many harmless requests",
    target: '<= 1.3',
  },
  {
    id: 'TRACING',
    description: 'share of P1 that tracing at 1 % sampling costs',
    target: '<= 0.05',
  },
];

/** Metrics that another command measures. */
export const MEASURED_ELSEWHERE: Readonly<Record<string, string>> = {
  P7: 'measured in a browser: npm run e2e',
};
