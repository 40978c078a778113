/** Every line that the table shows, measured in this run or not. */
export const SCOREBOARD: readonly { readonly id: string; readonly says: string; readonly target: string }[] =
  [
    { id: 'P1', says: 'creations ÷ pgbench', target: '>= 1, p99 <= 50 ms' },
    { id: 'P2', says: 'whole lives ÷ pgbench', target: '>= 0.5' },
    { id: 'P3', says: 'page of GET /payins at 10 million rows ÷ at 10 thousand', target: '<= 1.3' },
    { id: 'P4', says: 'cost of a creation at 10 million rows ÷ empty', target: '<= 1.2' },
    { id: 'P5', says: 'QR payins ÷ single-use payins', target: '>= 0.3' },
    { id: 'P6', says: "deliveries a core ÷ a bare client's", target: '>= 0.5' },
    { id: 'P7', says: "rail's confirmation to the payer's screen, p95", target: '<= 500 ms' },
    { id: 'P8', says: 'WAL and commits a payin', target: '<= 3072 bytes, <= 0.1' },
    { id: 'P10', says: 'processor time of an idle stack', target: '<= 2 % of a core' },
    { id: 'R5', says: 'first attempt while 30 % of endpoints hang, p99', target: '<= 2000 ms' },
    {
      id: 'E1',
      says: 'the same with 3,000 of 10,000 hanging and 1,000 events a second',
      target: '<= 2000 ms',
    },
    {
      id: 'E2',
      says: "another merchant's events while a backlog of a million is delivered, p99",
      target: '<= 2000 ms',
    },
    { id: 'O1', says: 'creations at three times the capacity ÷ the capacity', target: '>= 0.8' },
    { id: 'O2', says: 'p99 of what was let in meanwhile', target: '<= 1000 ms' },
    { id: 'O3', says: 'until all is as before', target: '<= 10 s' },
    { id: 'O4', says: 'p99 of others beside one at fifty times its limit ÷ without it', target: '<= 1.2' },
    { id: 'O5', says: 'a refused request ÷ a served one, processor time', target: '<= 0.15' },
    { id: 'G1', says: 'requests that failed while months left under load', target: '<= 0' },
    { id: 'G2', says: 'growth of the worst figure over an hour of churn', target: '<= 1.15' },
    { id: 'C1', says: 'confirmations a second on one balance', target: '>= 950' },
    { id: 'D1', says: 'a payroll, payouts a second', target: '>= 500' },
    { id: 'W1', says: 'a round of asking with a million waiting ÷ ten thousand', target: '<= 10' },
  ];

/** Lines that another command measures. */
export const ELSEWHERE: Readonly<Record<string, string>> = {
  P7: 'measured in a browser: npm run e2e',
};
