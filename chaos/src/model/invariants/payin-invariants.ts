import type { PayinRow } from '../books.ts';
import type { Breach } from '../invariant-violation.ts';
import type { KnownPayin } from '../known-payin.ts';
import type { Collection } from '../rail-facts.ts';
import { isFinal, type View } from '../view.ts';

/** Of payins, at any moment, also in the middle of work. */
export function payinBreaches(view: View): Breach[] {
  const { books, payins, facts } = view;
  const rows = new Map(books.payins.map((row) => [row.id, row]));
  const breaches: Breach[] = books.strangers.payins.map((id) => ({
    promise: 'onePayin',
    about: { nobodyKnows: id },
  }));
  for (const payin of payins) {
    const row = rows.get(payin.id);
    if (!row || row.cents !== String(payin.cents) || row.rail !== payin.rail) {
      breaches.push({ promise: 'onePayin', about: { told: payin, row: row ?? null } });
      continue;
    }
    breaches.push(
      ...historyBreaches(row, view),
      ...eventBreaches(row, view),
      ...endBreaches(row, payin, facts.of(payin.railReference)),
    );
  }
  return breaches;
}

const FIRST = { BRE_B: 'PROCESSING', PSE: 'PENDING' } as const;
const MOVES: Readonly<Record<string, readonly string[]>> = {
  PENDING: ['PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'],
  PROCESSING: ['CONFIRMED', 'DECLINED', 'CANCELED'],
};

function historyBreaches(row: PayinRow, { books }: View): Breach[] {
  const moves = books.history.filter(({ resource }) => resource === row.id);
  const byFrom = new Map(moves.map((move) => [move.from, move]));
  const first = byFrom.get('NONE');
  let at = first;
  let legal = first?.to === FIRST[row.rail];
  let steps = first ? 1 : 0;
  while (at && byFrom.has(at.to) && steps <= moves.length) {
    const next = byFrom.get(at.to);
    if (!next) break;
    legal &&= (MOVES[next.from]?.includes(next.to) ?? false) && next.seconds >= at.seconds;
    at = next;
    steps += 1;
  }
  const arrives = at?.to === row.status && (!isFinal(row.status) || at.at === row.result_at);
  if (legal && steps === moves.length && arrives) return [];
  return [{ promise: 'history', about: { payin: row.id, status: row.status, history: moves } }];
}

const EVENTS: Readonly<Record<string, string>> = {
  CONFIRMED: 'payin.confirmed',
  DECLINED: 'payin.declined',
  CANCELED: 'payin.canceled',
};

function eventBreaches(row: PayinRow, { books }: View): Breach[] {
  const events = books.events.filter(({ resource }) => resource === row.id);
  const wanted = EVENTS[row.status];
  const [only] = events;
  const sound =
    wanted === undefined
      ? events.length === 0
      : events.length === 1 && only?.event === wanted && only.final === wanted;
  return sound ? [] : [{ promise: 'events', about: { payin: row.id, status: row.status, events } }];
}

/** Codes of the rails (rails.md) that a history can bring about, as a merchant is to see them. */
const ERRORS: Readonly<Record<string, string>> = {
  '4016': 'RAIL_REJECTED',
  '4013': 'NETWORK_LIMIT_EXCEEDED',
  '4011': 'SUSPECTED_FRAUD',
  '0004': 'KEY_NOT_FOUND',
  CANCELED: 'PAYER_CANCELED',
  '1': 'PAYER_CANCELED',
  '8': 'LIMIT_EXCEEDED',
  '10': 'RAIL_REJECTED',
  '11': 'INSUFFICIENT_FUNDS',
  '14': 'PAYER_ABANDONED',
  '15': 'PAYER_ABANDONED',
  FAIL_INVALIDAMOUNT: 'LIMIT_EXCEEDED',
  FAIL_BANKUNREACHEABLE: 'BANK_UNAVAILABLE',
};
const CANCELING = new Set(['PAYER_CANCELED', 'PAYER_ABANDONED', 'EXPIRED']);

function endBreaches(row: PayinRow, payin: KnownPayin, rail: Collection): Breach[] {
  if (row.status !== 'DECLINED' && row.status !== 'CANCELED') {
    return row.error === null ? [] : [{ promise: 'railEnds', about: row }];
  }
  if (row.error === 'EXPIRED' && row.status === 'CANCELED') return expiryBreaches(row, rail);
  if (row.error === 'UNDERPAID' && row.status === 'DECLINED') return underpaidBreaches(row, rail);
  const words = [...rail.ends.filter(({ stands }) => stands), ...rail.refusals];
  const said = words.some(({ code }) => ERRORS[code] === row.error);
  const fits = (row.status === 'CANCELED') === CANCELING.has(row.error ?? '');
  if (said && fits && row.confirmed === null) return [];
  return [{ promise: 'railEnds', about: { row, rail: payin.railReference, words } }];
}

/** The rail executed a payment of less than the amount, and that is what the payin says arrived. */
function underpaidBreaches(row: PayinRow, { executions }: Collection): Breach[] {
  const arrived = executions.some(
    ({ cents }) => String(cents) === row.confirmed && cents < BigInt(row.cents),
  );
  return arrived ? [] : [{ promise: 'railEnds', about: { row, executions } }];
}

/** Closed at the rail, and whatever came before the closing was not money; at PSE, that it never knew of it. */
function expiryBreaches(row: PayinRow, rail: Collection): Breach[] {
  const { closed, opened, executions } = rail;
  const unpaid =
    row.rail === 'BRE_B' ? closed !== null && executions.every(({ seq }) => seq > closed) : opened === null;
  if (unpaid && row.after_expiry === true && row.confirmed === null) return [];
  return [{ promise: 'closedFirst', about: { row, closed, opened, executions } }];
}
