import type { PayoutRow } from './payout-rows.ts';
import type { OrderAnswer, PayOrder, SentMoney } from './rail-orders.ts';
import { uuidOf, type Violation, type World } from './world.ts';

/** rails.md: the longest a payment takes. */
const LONGEST_MS = 20_000;
/** So long a worker may be at an answer before another one takes over, in real time. */
const APPLIED_WITHIN_MS = 20_000;
const ONE_ID = 'one end-to-end id per payout';
const COMMITTED = 'an attempt is committed before its order leaves';
const MEANT = 'paid to whom was shown';

/** What arrived at the rail is what merchants asked for, under one id, and was written down before it left. */
export function payoutOrderViolations(world: World): Violation[] {
  const { rows, rail, knownSeq, askedFor } = world;
  const { payOrders } = rail.payouts;
  // What arrived after the database was read may be of payouts and attempts that came after, too.
  const known = payOrders.filter(({ seq }) => seq <= knownSeq);
  const orders = Map.groupBy(known, ({ internalId }) => internalId);
  return [
    ...known
      .filter(({ internalId }) => !rows.payouts.byId.has(internalId))
      .map((row) => ({
        promise: 'nothing from nowhere',
        what: 'an order at the rail that is no payout of ours',
        row,
      })),
    ...payOrders.flatMap((order) => {
      const payout = rows.payouts.byId.get(order.internalId);
      return payout ? orderViolations(order, payout, askedFor(payout)?.key ?? null) : [];
    }),
    ...rows.payouts.all.flatMap((payout) => [
      ...idViolations(payout),
      ...attemptViolations(world, payout, orders.get(payout.id) ?? []),
      ...repeatViolations(world, payout),
    ]),
    ...shownViolations(world),
  ];
}

/** @param key null for a return, whose key an operator gave */
function orderViolations(order: PayOrder, payout: PayoutRow, key: string | null): Violation[] {
  const row = { order, payout };
  if (order.endToEndId !== payout.endToEndId)
    return [{ promise: ONE_ID, what: 'an order under another end-to-end id', row }];
  if (payout.status === 'CANCELED')
    return [{ promise: 'a canceled payout was never ordered', what: 'its order arrived at the rail', row }];
  const asAsked = order.cents === payout.amount && (key === null || order.key === key);
  return asAsked ? [] : [{ promise: 'ordered as asked for', what: 'another amount or another key', row }];
}

/** It says whose it is by itself, so it cannot have been another's before. */
function idViolations(payout: PayoutRow): Violation[] {
  return uuidOf(payout.endToEndId.slice(0, 26)) === payout.id
    ? []
    : [{ promise: ONE_ID, what: 'the end-to-end id is not of this payout', row: payout }];
}

function attemptViolations({ rows }: World, payout: PayoutRow, orders: readonly PayOrder[]): Violation[] {
  const attempts = rows.payouts.attemptsOf.get(payout.id) ?? [];
  const wrong = (what: string) => [{ promise: COMMITTED, what, row: { payout, attempts, orders } }];
  if (attempts.length !== payout.attempts || attempts.some(({ number }, index) => number !== index + 1))
    return wrong(`${attempts.length} attempts are written down of ${payout.attempts}`);
  const late = orders.some(
    ({ atMs }, index) => attempts.filter(({ at }) => at.getTime() <= atMs).length < index + 1,
  );
  return late ? wrong('an order arrived for which no attempt had been committed') : [];
}

/** The same order leaves again only when the rail, asked after its longest time, knew of none. */
function repeatViolations({ rows, rail, answersTo }: World, payout: PayoutRow): Violation[] {
  const promise = 'sent again only when the rail knew of none';
  const attempts = rows.payouts.attemptsOf.get(payout.id) ?? [];
  return attempts.slice(1).flatMap((attempt, index) => {
    const leftAt = attempts[index]?.at.getTime() ?? 0;
    const denied = answersTo(payout.endToEndId).some(
      (answer) =>
        answer.status === 'NOT_FOUND' &&
        answer.atMs >= leftAt &&
        appliedAtMs(rail, answer) >= leftAt + LONGEST_MS,
    );
    return denied && attempt.at.getTime() >= leftAt + LONGEST_MS
      ? []
      : [{ promise, what: `attempt ${attempt.number} left too early`, row: { payout, attempts } }];
  });
}

/**
 * Business time jumps in a run, also while an answer is on its way, and whoever asked cannot tell that from time that
 * went by before: an answer counts as one of the latest moment at which it can have been applied.
 */
function appliedAtMs({ shifts }: World['rail'], { atMs, realMs }: OrderAnswer): number {
  const shiftAt = (ms: number) => shifts.findLast((shift) => shift.realMs <= ms)?.shiftMs ?? 0;
  return atMs + shiftAt(realMs + APPLIED_WITHIN_MS) - shiftAt(realMs);
}

/** A payout by a lookup is executed by the directory's word, and to the person whom the merchant was shown. */
function shownViolations({ rows, rail, told }: World): Violation[] {
  const resolutions = new Map(rail.payouts.resolutions.map((each) => [each.resolutionId, each]));
  const orders = new Map(
    rail.payouts.payOrders
      .filter(({ answered }) => answered === 'PROCESSING')
      .map((order) => [order.endToEndId, order]),
  );
  const executed = new Map(rail.payouts.sentMoney.map((money) => [money.endToEndId, money]));
  return told.payouts.created.flatMap(({ sent, payout }) => {
    const shown = told.payouts.shown.get(sent.lookupId ?? '');
    const endToEndId = rows.payouts.byId.get(payout.id)?.endToEndId ?? '';
    const order = orders.get(endToEndId);
    if (!shown || !order || !executed.has(endToEndId)) return [];
    const resolution = resolutions.get(order.resolutionId);
    const fits =
      resolution?.key === sent.key &&
      resolution.person?.documentNumber.slice(-4) === shown.documentNumber.slice(-4) &&
      resolution.person.names.slice(0, 3) === shown.name.slice(0, 3);
    return fits
      ? []
      : [
          {
            promise: MEANT,
            what: 'executed to somebody else, or to anybody',
            row: { shown, order, resolution },
          },
        ];
  });
}

/** Executions by the payout that they are of; by the order that brought them, whatever its end-to-end id says. */
export function executionsByPayout({ rail }: World): ReadonlyMap<string, readonly SentMoney[]> {
  const payoutOf = new Map(
    rail.payouts.payOrders.map(({ endToEndId, internalId }) => [endToEndId, internalId]),
  );
  return Map.groupBy(rail.payouts.sentMoney, ({ endToEndId }) => payoutOf.get(endToEndId) ?? '');
}
