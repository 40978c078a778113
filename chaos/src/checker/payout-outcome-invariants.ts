import { isMerchants } from './payout-creation-invariants.ts';
import { executionsByPayout } from './payout-order-invariants.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { SentMoney } from './rail-orders.ts';
import { FINAL, type Violation, type World } from './world.ts';

const EVENT: Readonly<Record<string, string>> = {
  CONFIRMED: 'payout.confirmed',
  DECLINED: 'payout.declined',
  CANCELED: 'payout.canceled',
};

/** rails.md, by what a merchant is told of each. */
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

/** No order is ever decided for this key but by hand. */
const NEVER_ENDS: ReadonlySet<string> = new Set(['@TESTTIMEOUT']);

const EXECUTED = 'executions are the confirmed payouts, one each';

/** Every payout ended as the rail's journal says, moved as the contract allows, and was told of once. */
export function payoutOutcomeViolations(world: World): Violation[] {
  const executions = executionsByPayout(world);
  const words = railWords(world);
  const funds = fundsOf(world);
  return [
    ...world.rows.payouts.all.flatMap((payout) => [
      ...eventViolations(world, payout),
      ...historyViolations(world, payout),
      ...executionViolations(world, payout, executions.get(payout.id) ?? []),
      ...declineViolations(payout, words.get(payout.endToEndId) ?? new Set(), funds),
    ]),
    ...strayViolations(world, executions),
  ];
}

function eventViolations({ rows: { payouts } }: World, payout: PayoutRow): Violation[] {
  const promise = 'one event per final state of a payout';
  const events = payouts.eventsOf.get(payout.id) ?? [];
  const finals = payouts.finalEventsOf.get(payout.id) ?? [];
  // Nobody is told of a return: it is the house's own.
  const expected = FINAL.has(payout.status) && isMerchants(payout) ? 1 : 0;
  const row = { payout, events, finals };
  if (events.length !== expected || finals.length !== expected) {
    const what = `${payout.status} with ${events.length} events and ${finals.length} final events`;
    return [{ promise, what, row }];
  }
  const fits = events.every(
    (event, index) =>
      event.event === EVENT[payout.status] &&
      finals[index]?.event === event.event &&
      finals[index]?.id === event.id,
  );
  return fits ? [] : [{ promise, what: `${payout.status} told as ${events[0]?.event}`, row }];
}

/** From nothing to PROCESSING, and from there to one end. */
function historyViolations({ rows: { payouts } }: World, payout: PayoutRow): Violation[] {
  const promise = 'legal transitions of payouts only';
  const history = payouts.historyOf.get(payout.id) ?? [];
  const wrong = (what: string) => [{ promise, what, row: { payout, history } }];
  const created = history.find(({ from }) => from === 'NONE');
  const ended = history.find(({ from }) => from === 'PROCESSING');
  if (created?.to !== 'PROCESSING') return wrong('its creation is not written down');
  const final = FINAL.has(payout.status);
  if (history.length !== (final ? 2 : 1)) return wrong(`${payout.status} after ${history.length} moves`);
  if (!final) return payout.resultAt === null ? [] : wrong('a result before its end');
  if (ended?.to !== payout.status) return wrong(`the history ends in ${ended?.to}, it is ${payout.status}`);
  if (ended.at.getTime() < created.at.getTime()) return wrong('the history goes back in time');
  return payout.resultAt?.getTime() === ended.at.getTime()
    ? []
    : wrong('the result is not dated by its move');
}

function executionViolations(world: World, payout: PayoutRow, executions: readonly SentMoney[]): Violation[] {
  const { rows, drained, askedFor } = world;
  const wrong = (what: string) => [{ promise: EXECUTED, what, row: { payout, executions } }];
  if (executions.length > 1) return wrong(`executed ${executions.length} times`);
  const [execution] = executions;
  if (payout.status === 'CONFIRMED') {
    if (!execution) return wrong('confirmed, and nothing was executed');
    const same =
      execution.executionId === payout.executionId &&
      execution.endToEndId === payout.endToEndId &&
      execution.cents === payout.amount &&
      (!isMerchants(payout) || execution.key === askedFor(payout)?.key);
    return same ? [] : wrong('confirmed by another execution, order, amount or key');
  }
  if (!execution) return [];
  if (payout.status === 'PROCESSING') return drained ? wrong('executed, and still open') : [];
  const kept = rows.anomalies.some(
    ({ executionId, amount, payoutId }) =>
      executionId === execution.executionId && amount === -execution.cents && payoutId === payout.id,
  );
  if (kept || isUnheardOf(world, execution)) return [];
  return wrong(`${payout.status}, executed, and no anomaly tells of the money`);
}

/** Money that left after a rejection: it may be on its way to be heard of, or the rail never told and was not asked. */
function isUnheardOf({ rail, answersTo, drained }: World, execution: SentMoney): boolean {
  if (!execution.anyway || !drained) return execution.anyway;
  const told = [...rail.queued.values()].some(({ executionId }) => executionId === execution.executionId);
  return !told && !answersTo(execution.endToEndId).some(({ seq }) => seq > execution.seq);
}

/** What was said against each order: by the rail at its door, by the rail at its end, and by the directory. */
function railWords({ rail: { payouts }, rows, askedFor }: World): ReadonlyMap<string, ReadonlySet<string>> {
  const words = new Map<string, Set<string>>();
  const add = (endToEndId: string, code: string | null) => {
    const meaning = MEANING[code ?? ''];
    if (meaning === undefined) return;
    words.set(endToEndId, (words.get(endToEndId) ?? new Set()).add(meaning));
  };
  for (const { endToEndId, answered, code } of payouts.payOrders)
    if (answered === 'REJECTED') add(endToEndId, code);
  for (const { endToEndId, outcome, code } of payouts.orderEnds)
    if (outcome === 'REJECTED') add(endToEndId, code);
  const resolutions = Map.groupBy(payouts.resolutions, ({ key }) => key);
  // Only of those that go by a lookup the directory is asked again, when its promise has grown old.
  for (const payout of rows.payouts.all.filter(({ resolved }) => resolved)) {
    const heard = resolutions.get(askedFor(payout)?.key ?? '') ?? [];
    for (const { code } of heard) add(payout.endToEndId, code);
    const people = new Set(heard.flatMap(({ person }) => (person ? [person.documentNumber] : [])));
    if (people.size > 1) add(payout.endToEndId, '4008');
  }
  return words;
}

type Funds = (payout: PayoutRow) => boolean;

/** Whether the balance surely covered it: by deposits made before it was asked for, less all that was ever spent. */
function fundsOf({ rows, told, askedFor }: World): Funds {
  const spent = new Map<string, bigint>();
  for (const { organizationId, debit, amount } of rows.transfers)
    if (debit === 'available') spent.set(organizationId, (spent.get(organizationId) ?? 0n) + amount);
  return (payout) => {
    const { organizationId, amount } = payout;
    const place = askedFor(payout)?.place ?? -1;
    const deposited = told.acts
      .filter((act) => act.act === 'deposit' && act.organizationId === organizationId)
      .filter(({ about }) => (told.done.get(about) ?? Number.POSITIVE_INFINITY) < place)
      .reduce((sum, { amountInCents }) => sum + BigInt(amountInCents ?? 0), 0n);
    return deposited - (spent.get(organizationId) ?? 0n) >= amount;
  };
}

/** A no needs somebody's word: the rail's, the directory's, or the balance's. A timeout is none. */
function declineViolations(payout: PayoutRow, words: ReadonlySet<string>, covered: Funds): Violation[] {
  const promise = "the rail's word for every payout declined";
  const wrong = (what: string) => [{ promise, what, row: { payout, words: [...words] } }];
  if ((payout.status === 'DECLINED') !== (payout.errorCode !== null))
    return wrong(`${payout.status} with the error code ${payout.errorCode}`);
  if (payout.status !== 'DECLINED' || words.has(payout.errorCode ?? '')) return [];
  if (payout.errorCode !== 'INSUFFICIENT_FUNDS' || payout.attempts > 0)
    return wrong(`${payout.errorCode}, and nobody said so`);
  return covered(payout) ? wrong('declined for lack of funds that were there') : [];
}

function strayViolations(
  { rows, drained }: World,
  executions: ReadonlyMap<string, readonly SentMoney[]>,
): Violation[] {
  if (!drained) return [];
  return [...executions]
    .filter(([payoutId]) => !rows.payouts.byId.has(payoutId))
    .map(([, row]) => ({ promise: EXECUTED, what: 'executed for no payout', row }));
}

/** Every payout is final, but for those that the network itself never decides. */
export function payoutRestViolations({ rows, rail, drained, askedFor }: World): Violation[] {
  if (!drained) return [];
  const promise = 'every payout comes to its end';
  const ended = new Set(rail.payouts.orderEnds.map(({ endToEndId }) => endToEndId));
  const isUndecided = (payout: PayoutRow) =>
    NEVER_ENDS.has(askedFor(payout)?.key ?? '') && !ended.has(payout.endToEndId);
  return rows.payouts.all
    .filter((payout) => !isUndecided(payout))
    .flatMap((row) => [
      ...(FINAL.has(row.status) ? [] : [{ promise, what: 'a payout is still open', row }]),
      ...(row.due ? [{ promise, what: 'something is still due about a payout', row }] : []),
      ...(row.claimed ? [{ promise, what: 'a payout is still claimed', row }] : []),
    ]);
}
