import type { RailEnd } from './rail-facts.ts';
import type { PayinRow } from './rows.ts';
import { FINAL, type Violation, type World } from './world.ts';

const FIRST = { BRE_B: 'PROCESSING', PSE: 'PENDING' } as const;

/** contract.md, States. */
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  PENDING: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
};

const EVENT: Readonly<Record<string, string>> = {
  CONFIRMED: 'payin.confirmed',
  DECLINED: 'payin.declined',
  CANCELED: 'payin.canceled',
};

/** How far the database's shift of time may be behind the rails', which is always made first. */
const SHIFT_LAG_MS = 60_000;
/** A transaction takes the time of its beginning and the shift that it finds later on. */
const BEGUN_BEFORE_MS = 10_000;

/** States moved as the contract allows, each end has the rail's word behind it and one event. */
export function outcomeViolations(world: World): Violation[] {
  const { rail, ownerOf } = world;
  const ends = Map.groupBy(rail.ends, (end) => ownerOf(end.rail, end.reference)?.id ?? '');
  const refused = new Set(
    [...rail.refusals].map((reference) => (ownerOf('BRE_B', reference) ?? ownerOf('PSE', reference))?.id),
  );
  return world.rows.payins.flatMap((payin) => [
    // Of a payin of a link the link tells.
    ...(payin.linkId === null ? eventViolations(world, payin) : []),
    ...historyViolations(world, payin),
    ...endViolations(world, payin, ends.get(payin.id) ?? [], refused.has(payin.id)),
  ]);
}

function eventViolations({ rows }: World, payin: PayinRow): Violation[] {
  const promise = 'one event per final state';
  const events = rows.eventsOf.get(payin.id) ?? [];
  const finals = rows.finalEventsOf.get(payin.id) ?? [];
  const expected = FINAL.has(payin.status) ? 1 : 0;
  if (events.length !== expected || finals.length !== expected) {
    const what = `${payin.status} with ${events.length} events and ${finals.length} final events`;
    return [{ promise, what, row: { payin, events, finals } }];
  }
  const [event] = events;
  const [final] = finals;
  if (!event || !final) return [];
  const fits = event.event === EVENT[payin.status] && final.event === event.event && final.id === event.id;
  return fits
    ? []
    : [{ promise, what: `${payin.status} told as ${event.event}`, row: { payin, event, final } }];
}

function historyViolations({ rows }: World, payin: PayinRow): Violation[] {
  const promise = 'legal transitions only';
  const history = rows.historyOf.get(payin.id) ?? [];
  const wrong = (what: string) => [{ promise, what, row: { payin, history } }];
  const leaving = new Map(history.map((move) => [move.from, move]));
  if (leaving.size !== history.length) return wrong('a state was left twice');
  let status = 'NONE';
  let at = 0;
  for (let moves = 0; moves < history.length; moves += 1) {
    const move = leaving.get(status);
    if (!move) return wrong(`the history does not go on from ${status}`);
    const legal =
      status === 'NONE' ? move.to === FIRST[payin.rail] : LEGAL[status]?.includes(move.to) === true;
    if (!legal) return wrong(`a move from ${status} to ${move.to}`);
    if (move.at.getTime() < at) return wrong('the history goes back in time');
    status = move.to;
    at = move.at.getTime();
  }
  if (status !== payin.status) return wrong(`the history ends in ${status}, the payin is ${payin.status}`);
  const dated = FINAL.has(payin.status) ? payin.resultAt?.getTime() === at : payin.resultAt === null;
  return dated ? [] : wrong('the result is not dated by its move');
}

/** An end without money needs the rail's word: a refusal, its end, or a key that was closed and unpaid. */
function endViolations(
  world: World,
  payin: PayinRow,
  ends: readonly RailEnd[],
  refused: boolean,
): Violation[] {
  const promise = "the rail's word for every end";
  const wrong = (what: string) => [{ promise, what, row: { payin, ends } }];
  if ((payin.errorCode !== null) !== (payin.status === 'DECLINED' || payin.status === 'CANCELED'))
    return wrong(`${payin.status} with the error code ${payin.errorCode}`);
  if (payin.status === 'CANCELED' && payin.errorCode === 'EXPIRED') return expiryViolations(world, payin);
  if (payin.status === 'CANCELED')
    return ends.some(({ by }) => by === 'payer') ? [] : wrong('canceled, and no payer ended it');
  if (payin.status !== 'DECLINED') return [];
  if (payin.errorCode === 'UNDERPAID') return underpaidViolations(world, payin);
  return refused || ends.some(({ by }) => by === 'rail') ? [] : wrong('declined, and no rail declined it');
}

/** Declined because of its amount: the rail executed a payment of less, and it is what the payin says arrived. */
function underpaidViolations({ rail, ownerOf }: World, payin: PayinRow): Violation[] {
  const arrived = rail.executions.some(
    ({ rail: name, reference, cents }) =>
      ownerOf(name, reference)?.id === payin.id && cents === payin.confirmed && cents < payin.amount,
  );
  const what = 'underpaid, and no payment of that amount arrived';
  return arrived ? [] : [{ promise: "the rail's word for every end", what, row: { payin } }];
}

function expiryViolations({ rail, ownerOf }: World, payin: PayinRow): Violation[] {
  const promise = 'closed before it expires';
  const wrong = (what: string, more: object = {}) => [{ promise, what, row: { payin, ...more } }];
  const resultAt = payin.resultAt?.getTime() ?? 0;
  if (resultAt < payin.expiresAt.getTime()) return wrong('expired before its time');
  if (payin.key === null) {
    const ordered = rail.orders.some(
      ({ rail: name, reference }) => name === 'PSE' && ownerOf(name, reference)?.id === payin.id,
    );
    return ordered ? wrong('expired, though the bank has its transaction') : [];
  }
  const closed = rail.closed.get(payin.key);
  if (!closed) return wrong('expired, and its key was never closed');
  if (latestRealMs(rail.shifts, resultAt) < closed.realMs)
    return wrong('expired before its key was closed', { closed });
  const paid = rail.executions.find((e) => e.reference === payin.key && e.seq < closed.seq);
  return paid
    ? wrong('expired, though it was paid before its key was closed', { paid: paid.executionId })
    : [];
}

/** A business time as real time: under each shift that the database may have been under then, the latest. */
function latestRealMs(shifts: World['rail']['shifts'], businessMs: number): number {
  const spans = [{ realMs: 0, shiftMs: 0 }, ...shifts];
  const candidates = spans.flatMap(({ realMs, shiftMs }, index) => {
    const real = businessMs - shiftMs;
    const until = (spans[index + 1]?.realMs ?? Number.POSITIVE_INFINITY) + SHIFT_LAG_MS;
    return real >= realMs - BEGUN_BEFORE_MS && real <= until ? [real] : [];
  });
  return Math.max(...candidates, 0);
}
