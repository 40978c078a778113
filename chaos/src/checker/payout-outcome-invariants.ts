import type { InvariantCode } from './invariants.ts';
import { isMerchantPayout } from './payout-creation-invariants.ts';
import { executionsByPayout } from './payout-order-invariants.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { SentMoney } from './rail-orders.ts';
import { FINAL, type Violation, type World } from './world.ts';

const EVENT: Readonly<Record<string, string>> = {
  CONFIRMED: 'payout.confirmed',
  DECLINED: 'payout.declined',
  CANCELED: 'payout.canceled',
};

/** Error codes of the rail and the directory, with the error code that a merchant sees. */
const MEANING: Readonly<Record<string, string>> = {
  '0004': 'KEY_NOT_FOUND',
  '0005': 'KEY_SUSPENDED',
  '0006': 'KEY_SUSPENDED',
  '4000': 'KEY_INVALID',
  '4008': 'RECEIVER_MISMATCH',
  '4010': 'ACCOUNT_NOT_FOUND',
  '4013': 'NETWORK_LIMIT_EXCEEDED',
  '4016': 'RAIL_REJECTED',
};

/** The network never decides orders to this key. */
const NEVER_ENDS: ReadonlySet<string> = new Set(['@TESTTIMEOUT']);

const EXECUTED: InvariantCode = 'one_execution_per_confirmed_payout';

/** Every payout's outcome matches the rail's journal, its transitions are legal, and it has one event. */
export function payoutOutcomeViolations(world: World): Violation[] {
  const executions = executionsByPayout(world);
  const rejections = railRejections(world);
  const funds = createFundsCheck(world);
  return [
    ...world.rows.payouts.all.flatMap((payout) => [
      ...eventViolations(world, payout),
      ...historyViolations(world, payout),
      ...executionViolations(world, payout, executions.get(payout.id) ?? []),
      ...declineViolations(payout, rejections.get(payout.endToEndId) ?? new Set(), funds),
    ]),
    ...orphanExecutionViolations(world, executions),
  ];
}

function eventViolations({ rows: { payouts } }: World, payout: PayoutRow): Violation[] {
  const invariant: InvariantCode = 'one_event_per_final_payout';
  const events = payouts.eventsByResource.get(payout.id) ?? [];
  const finals = payouts.finalEventsByResource.get(payout.id) ?? [];
  // A return belongs to the operator and has no event.
  const expected = FINAL.has(payout.status) && isMerchantPayout(payout) ? 1 : 0;
  const row = { payout, events, finals };
  if (events.length !== expected || finals.length !== expected) {
    const detail = `${payout.status} with ${events.length} events and ${finals.length} final events`;
    return [{ invariant, detail, row }];
  }
  const fits = events.every(
    (event, index) =>
      event.event === EVENT[payout.status] &&
      finals[index]?.event === event.event &&
      finals[index]?.id === event.id,
  );
  return fits ? [] : [{ invariant, detail: `${payout.status} reported as ${events[0]?.event}`, row }];
}

/** Created as PROCESSING, then at most one transition to a final status. */
function historyViolations({ rows: { payouts } }: World, payout: PayoutRow): Violation[] {
  const invariant: InvariantCode = 'legal_payout_transitions';
  const history = payouts.historyByResource.get(payout.id) ?? [];
  const wrong = (detail: string): Violation[] => [{ invariant, detail, row: { payout, history } }];
  const created = history.find(({ from }) => from === 'NONE');
  const ended = history.find(({ from }) => from === 'PROCESSING');
  if (created?.to !== 'PROCESSING') return wrong('its creation is not recorded');
  const final = FINAL.has(payout.status);
  if (history.length !== (final ? 2 : 1))
    return wrong(`${payout.status} after ${history.length} transitions`);
  if (!final) return payout.resultAt === null ? [] : wrong('result_at is set before the end');
  if (ended?.to !== payout.status)
    return wrong(`the history ends in ${ended?.to}, the payout is ${payout.status}`);
  if (ended.at.getTime() < created.at.getTime()) return wrong('the history goes back in time');
  return payout.resultAt?.getTime() === ended.at.getTime()
    ? []
    : wrong('result_at differs from the final transition');
}

function executionViolations(world: World, payout: PayoutRow, executions: readonly SentMoney[]): Violation[] {
  const { rows, drained, requestFor } = world;
  const wrong = (detail: string): Violation[] => [
    { invariant: EXECUTED, detail, row: { payout, executions } },
  ];
  if (executions.length > 1) return wrong(`executed ${executions.length} times`);
  const [execution] = executions;
  if (payout.status === 'CONFIRMED') {
    if (!execution) return wrong('confirmed, but not executed');
    const same =
      execution.executionId === payout.executionId &&
      execution.endToEndId === payout.endToEndId &&
      execution.cents === payout.amount &&
      (!isMerchantPayout(payout) || execution.key === requestFor(payout)?.key);
    return same ? [] : wrong('confirmed by another execution, order, amount or key');
  }
  if (!execution) return [];
  if (payout.status === 'PROCESSING') return drained ? wrong('executed, but still open') : [];
  const hasAnomaly = rows.anomalies.some(
    ({ executionId, amount, payoutId }) =>
      executionId === execution.executionId && amount === -execution.cents && payoutId === payout.id,
  );
  if (hasAnomaly || isUndetectable(world, execution)) return [];
  return wrong(`${payout.status}, but executed without an anomaly`);
}

/** An execution after a rejection: its notice may be in flight, or the rail sent none and was not polled again. */
function isUndetectable({ rail, answersFor, drained }: World, execution: SentMoney): boolean {
  if (!execution.anyway || !drained) return execution.anyway;
  const notified = [...rail.queued.values()].some(({ executionId }) => executionId === execution.executionId);
  return !notified && !answersFor(execution.endToEndId).some(({ seq }) => seq > execution.seq);
}

/** The rejections of each order: at its submission, at its end, and by the directory. */
function railRejections({
  rail: { payouts },
  rows,
  requestFor,
}: World): ReadonlyMap<string, ReadonlySet<string>> {
  const rejections = new Map<string, Set<string>>();
  const add = (endToEndId: string, code: string | null) => {
    const meaning = MEANING[code ?? ''];
    if (meaning === undefined) return;
    rejections.set(endToEndId, (rejections.get(endToEndId) ?? new Set()).add(meaning));
  };
  for (const { endToEndId, answered, code } of payouts.payOrders)
    if (answered === 'REJECTED') add(endToEndId, code);
  for (const { endToEndId, outcome, code } of payouts.orderEnds)
    if (outcome === 'REJECTED') add(endToEndId, code);
  const resolutions = Map.groupBy(payouts.resolutions, ({ key }) => key);
  // Only payouts with a lookup are resolved again, when their resolution has expired.
  for (const payout of rows.payouts.all.filter(({ resolved }) => resolved)) {
    const received = resolutions.get(requestFor(payout)?.key ?? '') ?? [];
    for (const { code } of received) add(payout.endToEndId, code);
    const people = new Set(received.flatMap(({ person }) => (person ? [person.documentNumber] : [])));
    if (people.size > 1) add(payout.endToEndId, '4008');
  }
  return rejections;
}

type Funds = (payout: PayoutRow) => boolean;

/** Whether the balance certainly covered a payout: deposits acknowledged before its request, minus all spending. */
function createFundsCheck({ rows, client, requestFor }: World): Funds {
  const spent = new Map<string, bigint>();
  for (const { organizationId, debit, amount } of rows.transfers)
    if (debit === 'available') spent.set(organizationId, (spent.get(organizationId) ?? 0n) + amount);
  return (payout) => {
    const { organizationId, amount } = payout;
    const position = requestFor(payout)?.position ?? -1;
    const deposited = client.acts
      .filter((act) => act.act === 'deposit' && act.organizationId === organizationId)
      .filter(({ about }) => (client.done.get(about) ?? Number.POSITIVE_INFINITY) < position)
      .reduce((sum, { amountInCents }) => sum + BigInt(amountInCents ?? 0), 0n);
    return deposited - (spent.get(organizationId) ?? 0n) >= amount;
  };
}

/** A decline requires a rejection by the rail or the directory, or insufficient funds. A timeout is not a rejection. */
function declineViolations(payout: PayoutRow, rejections: ReadonlySet<string>, covered: Funds): Violation[] {
  const invariant: InvariantCode = 'payout_decline_reported_by_rail';
  const wrong = (detail: string): Violation[] => [
    { invariant, detail, row: { payout, rejections: [...rejections] } },
  ];
  if ((payout.status === 'DECLINED') !== (payout.errorCode !== null))
    return wrong(`${payout.status} with the error code ${payout.errorCode}`);
  if (payout.status !== 'DECLINED' || rejections.has(payout.errorCode ?? '')) return [];
  if (payout.errorCode !== 'INSUFFICIENT_FUNDS' || payout.attempts > 0)
    return wrong(`${payout.errorCode} was never reported`);
  return covered(payout) ? wrong('declined for insufficient funds although covered') : [];
}

function orphanExecutionViolations(
  { rows, drained }: World,
  executions: ReadonlyMap<string, readonly SentMoney[]>,
): Violation[] {
  if (!drained) return [];
  return [...executions]
    .filter(([payoutId]) => !rows.payouts.byId.has(payoutId))
    .map(([, row]) => ({ invariant: EXECUTED, detail: 'executed without a payout', row }));
}

/** Every payout is final, except those that the network leaves undecided. */
export function pendingPayoutViolations({ rows, rail, drained, requestFor }: World): Violation[] {
  if (!drained) return [];
  const invariant: InvariantCode = 'every_payout_final';
  const ended = new Set(rail.payouts.orderEnds.map(({ endToEndId }) => endToEndId));
  const isUndecided = (payout: PayoutRow) =>
    NEVER_ENDS.has(requestFor(payout)?.key ?? '') && !ended.has(payout.endToEndId);
  return rows.payouts.all
    .filter((payout) => !isUndecided(payout))
    .flatMap((row) => [
      ...(FINAL.has(row.status) ? [] : [{ invariant, detail: 'a payout is still open', row }]),
      ...(row.due ? [{ invariant, detail: 'a payout task is still due', row }] : []),
      ...(row.leased ? [{ invariant, detail: 'a payout is still leased', row }] : []),
    ]);
}
