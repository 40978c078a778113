import type { InvariantCode } from './invariants.ts';
import type { PayoutRow } from './payout-rows.ts';
import type { OrderAnswer, PayOrder, SentMoney } from './rail-orders.ts';
import { decodeUuid, type Violation, type World } from './world.ts';

/** The rail's maximum processing time of a payment. */
const LONGEST_MS = 20_000;
/** Real time until another worker takes over from one that is processing an answer. */
const APPLIED_WITHIN_MS = 20_000;
const ONE_ID: InvariantCode = 'one_end_to_end_id_per_payout';
const COMMITTED: InvariantCode = 'attempt_committed_before_send';
const RESOLVED_RECEIVER: InvariantCode = 'paid_to_resolved_receiver';

/** Orders at the rail match the merchants' requests, use one end-to-end id, and have an attempt committed before the send. */
export function payoutOrderViolations(world: World): Violation[] {
  const { rows, rail, knownSeq, requestFor } = world;
  const { payOrders } = rail.payouts;
  // Orders that arrived after the database was read may belong to later payouts and attempts.
  const known = payOrders.filter(({ seq }) => seq <= knownSeq);
  const orders = Map.groupBy(known, ({ internalId }) => internalId);
  return [
    ...known
      .filter(({ internalId }) => !rows.payouts.byId.has(internalId))
      .map(
        (row): Violation => ({
          invariant: 'no_unexplained_records',
          detail: 'a rail order without a matching payout',
          row,
        }),
      ),
    ...payOrders.flatMap((order) => {
      const payout = rows.payouts.byId.get(order.internalId);
      return payout ? orderViolations(order, payout, requestFor(payout)?.key ?? null) : [];
    }),
    ...rows.payouts.all.flatMap((payout) => [
      ...idViolations(payout),
      ...attemptViolations(world, payout, orders.get(payout.id) ?? []),
      ...repeatViolations(world, payout),
    ]),
    ...receiverViolations(world),
  ];
}

/** @param key null for a return, whose key an operator chose */
function orderViolations(order: PayOrder, payout: PayoutRow, key: string | null): Violation[] {
  const row = { order, payout };
  if (order.endToEndId !== payout.endToEndId)
    return [{ invariant: ONE_ID, detail: 'an order under another end-to-end id', row }];
  if (payout.status === 'CANCELED')
    return [{ invariant: 'canceled_payout_never_sent', detail: 'its order arrived at the rail', row }];
  const matches = order.cents === payout.amount && (key === null || order.key === key);
  return matches
    ? []
    : [{ invariant: 'order_matches_request', detail: 'the order has another amount or key', row }];
}

/** The end-to-end id encodes the payout's id, so no other payout can have used it. */
function idViolations(payout: PayoutRow): Violation[] {
  return decodeUuid(payout.endToEndId.slice(0, 26)) === payout.id
    ? []
    : [{ invariant: ONE_ID, detail: 'the end-to-end id does not encode this payout', row: payout }];
}

function attemptViolations({ rows }: World, payout: PayoutRow, orders: readonly PayOrder[]): Violation[] {
  const attempts = rows.payouts.attemptsByPayout.get(payout.id) ?? [];
  const wrong = (detail: string): Violation[] => [
    { invariant: COMMITTED, detail, row: { payout, attempts, orders } },
  ];
  if (attempts.length !== payout.attempts || attempts.some(({ number }, index) => number !== index + 1))
    return wrong(`${attempts.length} attempts recorded, expected ${payout.attempts}`);
  const sent = attempts.filter(({ unsent }) => !unsent);
  if (payout.status === 'CANCELED' && sent.length > 0)
    return [
      {
        invariant: 'canceled_payout_never_sent',
        detail: 'an attempt may have reached the rail',
        row: { payout, attempts },
      },
    ];
  const late = orders.some(
    ({ atMs }, index) => sent.filter(({ at }) => at.getTime() <= atMs).length < index + 1,
  );
  return late ? wrong('an order arrived before its attempt was committed') : [];
}

/**
 * The order is resent only after the rail, polled past its maximum processing time, reported it as unknown. After an attempt
 * without effect, the next may follow at once.
 */
function repeatViolations({ rows, rail, answersFor }: World, payout: PayoutRow): Violation[] {
  const invariant: InvariantCode = 'resend_requires_unknown_order';
  const attempts = rows.payouts.attemptsByPayout.get(payout.id) ?? [];
  return attempts.flatMap((attempt, index) => {
    const earlier = attempts.slice(0, index).findLast(({ unsent }) => !unsent);
    if (!earlier) return [];
    const sentAt = earlier.at.getTime();
    const denied = answersFor(payout.endToEndId).some(
      (answer) =>
        answer.status === 'NOT_FOUND' &&
        answer.atMs >= sentAt &&
        appliedAtMs(rail, answer) >= sentAt + LONGEST_MS,
    );
    return denied && attempt.at.getTime() >= sentAt + LONGEST_MS
      ? []
      : [{ invariant, detail: `attempt ${attempt.number} was sent too early`, row: { payout, attempts } }];
  });
}

/**
 * Business time may jump while an answer is in flight, and the server cannot tell that from elapsed time. So an answer
 * counts as of the latest business time at which it can have been applied.
 */
function appliedAtMs({ shifts }: World['rail'], { atMs, realMs }: OrderAnswer): number {
  const shiftAt = (ms: number) => shifts.findLast((shift) => shift.realMs <= ms)?.shiftMs ?? 0;
  return atMs + shiftAt(realMs + APPLIED_WITHIN_MS) - shiftAt(realMs);
}

/** A payout with a lookup is executed with a resolution of the directory, to the person that the lookup showed. */
function receiverViolations({ rows, rail, client }: World): Violation[] {
  const resolutions = new Map(rail.payouts.resolutions.map((each) => [each.resolutionId, each]));
  const orders = new Map(
    rail.payouts.payOrders
      .filter(({ answered }) => answered === 'PROCESSING')
      .map((order) => [order.endToEndId, order]),
  );
  const executed = new Map(rail.payouts.sentMoney.map((money) => [money.endToEndId, money]));
  return client.payouts.created.flatMap(({ sent, payout }) => {
    const shown = client.payouts.shown.get(sent.lookupId ?? '');
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
            invariant: RESOLVED_RECEIVER,
            detail: 'executed to another or an unresolved receiver',
            row: { shown, order, resolution },
          },
        ];
  });
}

/** Groups executions by payout, using the internal id of their orders instead of the end-to-end id. */
export function executionsByPayout({ rail }: World): ReadonlyMap<string, readonly SentMoney[]> {
  const payoutByEndToEndId = new Map(
    rail.payouts.payOrders.map(({ endToEndId, internalId }) => [endToEndId, internalId]),
  );
  return Map.groupBy(rail.payouts.sentMoney, ({ endToEndId }) => payoutByEndToEndId.get(endToEndId) ?? '');
}
