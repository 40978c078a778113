import type { InvariantCode } from './invariants.ts';
import type { RailEnd } from './rail-facts.ts';
import type { PayinRow } from './rows.ts';
import { FINAL, type Violation, type World } from './world.ts';

const FIRST = { BRE_B: 'PROCESSING', PSE: 'PENDING' } as const;

/** Allowed transitions of a payin. */
const LEGAL: Readonly<Record<string, readonly string[]>> = {
  PENDING: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
};

const EVENT: Readonly<Record<string, string>> = {
  CONFIRMED: 'payin.confirmed',
  DECLINED: 'payin.declined',
  CANCELED: 'payin.canceled',
};

/** Maximum delay between the time shift at the rails, which comes first, and the one in the database. */
const SHIFT_LAG_MS = 60_000;
/** A transaction combines its start time with the time shift that it reads later. */
const STARTED_BEFORE_MS = 10_000;

/** Transitions are legal, every final status is justified by the rail, and has one event. */
export function outcomeViolations(world: World): Violation[] {
  const { rail, findOwner } = world;
  const ends = Map.groupBy(rail.ends, (end) => findOwner(end.rail, end.reference)?.id ?? '');
  const rejected = new Set(
    [...rail.rejections].map(
      (reference) => (findOwner('BRE_B', reference) ?? findOwner('PSE', reference))?.id,
    ),
  );
  return world.rows.payins.flatMap((payin) => [
    // The payin of a link has no event of its own; the link has one.
    ...(payin.linkId === null ? eventViolations(world, payin) : []),
    ...historyViolations(world, payin),
    ...endViolations(world, payin, ends.get(payin.id) ?? [], rejected.has(payin.id)),
  ]);
}

function eventViolations({ rows }: World, payin: PayinRow): Violation[] {
  const invariant: InvariantCode = 'one_event_per_final_payin';
  const events = rows.eventsByResource.get(payin.id) ?? [];
  const finals = rows.finalEventsByResource.get(payin.id) ?? [];
  const expected = FINAL.has(payin.status) ? 1 : 0;
  if (events.length !== expected || finals.length !== expected) {
    const detail = `${payin.status} with ${events.length} events and ${finals.length} final events`;
    return [{ invariant, detail, row: { payin, events, finals } }];
  }
  const [event] = events;
  const [final] = finals;
  if (!event || !final) return [];
  const fits = event.event === EVENT[payin.status] && final.event === event.event && final.id === event.id;
  return fits
    ? []
    : [{ invariant, detail: `${payin.status} reported as ${event.event}`, row: { payin, event, final } }];
}

function historyViolations({ rows }: World, payin: PayinRow): Violation[] {
  const invariant: InvariantCode = 'legal_payin_transitions';
  const history = rows.historyByResource.get(payin.id) ?? [];
  const wrong = (detail: string): Violation[] => [{ invariant, detail, row: { payin, history } }];
  const transitionFrom = new Map(history.map((transition) => [transition.from, transition]));
  if (transitionFrom.size !== history.length) return wrong('two transitions leave the same status');
  let status = 'NONE';
  let at = 0;
  for (let count = 0; count < history.length; count += 1) {
    const transition = transitionFrom.get(status);
    if (!transition) return wrong(`the history has no transition from ${status}`);
    const legal =
      status === 'NONE'
        ? transition.to === FIRST[payin.rail]
        : LEGAL[status]?.includes(transition.to) === true;
    if (!legal) return wrong(`an illegal transition from ${status} to ${transition.to}`);
    if (transition.at.getTime() < at) return wrong('the history goes back in time');
    status = transition.to;
    at = transition.at.getTime();
  }
  if (status !== payin.status) return wrong(`the history ends in ${status}, the payin is ${payin.status}`);
  const dated = FINAL.has(payin.status) ? payin.resultAt?.getTime() === at : payin.resultAt === null;
  return dated ? [] : wrong('result_at differs from the final transition');
}

/** An end without money requires evidence from the rail: a rejection, an end, or a key closed unpaid. */
function endViolations(
  world: World,
  payin: PayinRow,
  ends: readonly RailEnd[],
  rejected: boolean,
): Violation[] {
  const invariant: InvariantCode = 'payin_end_reported_by_rail';
  const wrong = (detail: string): Violation[] => [{ invariant, detail, row: { payin, ends } }];
  if ((payin.errorCode !== null) !== (payin.status === 'DECLINED' || payin.status === 'CANCELED'))
    return wrong(`${payin.status} with the error code ${payin.errorCode}`);
  if (payin.status === 'CANCELED' && payin.errorCode === 'EXPIRED') return expiryViolations(world, payin);
  if (payin.status === 'CANCELED')
    return ends.some(({ by }) => by === 'payer') ? [] : wrong('canceled, but no payer canceled it');
  if (payin.status !== 'DECLINED') return [];
  if (payin.errorCode === 'UNDERPAID') return underpaidViolations(world, payin);
  return rejected || ends.some(({ by }) => by === 'rail') ? [] : wrong('declined, but no rail declined it');
}

/** Declined as underpaid: the rail executed a smaller payment, whose amount the payin records. */
function underpaidViolations({ rail, findOwner }: World, payin: PayinRow): Violation[] {
  const arrived = rail.executions.some(
    ({ rail: name, reference, cents }) =>
      findOwner(name, reference)?.id === payin.id && cents === payin.confirmed && cents < payin.amount,
  );
  const detail = 'underpaid, but no payment of that amount arrived';
  return arrived ? [] : [{ invariant: 'payin_end_reported_by_rail', detail, row: { payin } }];
}

function expiryViolations({ rail, findOwner }: World, payin: PayinRow): Violation[] {
  const invariant: InvariantCode = 'key_closed_before_expiry';
  const wrong = (detail: string, more: object = {}): Violation[] => [
    { invariant, detail, row: { payin, ...more } },
  ];
  const resultAt = payin.resultAt?.getTime() ?? 0;
  if (resultAt < payin.expiresAt.getTime()) return wrong('expired before expires_at');
  if (payin.key === null) {
    const ordered = rail.orders.some(
      ({ rail: name, reference }) => name === 'PSE' && findOwner(name, reference)?.id === payin.id,
    );
    return ordered ? wrong('expired although the bank has its transaction') : [];
  }
  const closed = rail.closed.get(payin.key);
  if (!closed) return wrong('expired, but its key was never closed');
  if (latestRealMs(rail.shifts, resultAt) < closed.realMs)
    return wrong('expired before its key was closed', { closed });
  const paid = rail.executions.find((e) => e.reference === payin.key && e.seq < closed.seq);
  return paid
    ? wrong('expired although it was paid before its key was closed', { paid: paid.executionId })
    : [];
}

/** Converts business time to the latest possible real time, given the time shifts that may have been in effect. */
function latestRealMs(shifts: World['rail']['shifts'], businessMs: number): number {
  const spans = [{ realMs: 0, shiftMs: 0 }, ...shifts];
  const candidates = spans.flatMap(({ realMs, shiftMs }, index) => {
    const real = businessMs - shiftMs;
    const until = (spans[index + 1]?.realMs ?? Number.POSITIVE_INFINITY) + SHIFT_LAG_MS;
    return real >= realMs - STARTED_BEFORE_MS && real <= until ? [real] : [];
  });
  return Math.max(...candidates, 0);
}
