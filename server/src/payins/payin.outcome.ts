import { type Cents, cents } from '../kit/money.ts';
import type { Payment, RailErrorCode, Standing, Told } from '../rails/contract.ts';
import { isFinal, type PayinStatus } from './payin.states.ts';

/** Why a payin changes, as its history says it. */
type MoveCause =
  | 'paid, by notice'
  | 'paid, when asked'
  | 'declined by the rail'
  | 'refused by the rail'
  | 'ended by the payer'
  | 'expired: closed and unpaid'
  | 'expired: never sent';

export interface Move {
  readonly to: 'CONFIRMED' | 'DECLINED' | 'CANCELED';
  readonly confirmedAmount: Cents | null;
  readonly errorCode: RailErrorCode | null;
  /** Whether what came becomes the merchant's by and by. */
  readonly settles: boolean;
  readonly cause: MoveCause;
}

/** Money that came, and where it goes: to the merchant, or to suspense because of an oddity an operator must see. */
export interface Booking {
  readonly executionId: string;
  readonly amount: Cents;
  readonly into: 'pending' | 'suspense';
  /** What came in the same execution beyond the amount. */
  readonly excess?: true;
}

export interface Oddity {
  readonly kind:
    | 'paid_late'
    | 'paid_again'
    | 'underpaid'
    | 'overpaid'
    | 'unmatched'
    | 'contradiction'
    | 'unfounded';
  readonly executionId: string | null;
  /** In suspense; null when no money came with it. */
  readonly amount: Cents | null;
}

export interface Judgement {
  readonly move: Move | null;
  readonly bookings: readonly Booking[];
  readonly oddities: readonly Oddity[];
}

/** A payin as far as its outcome depends on it. */
export interface Judged {
  readonly status: PayinStatus;
  readonly amount: Cents;
  /** By the database's clock. */
  readonly expired: boolean;
  /** Whether everything that was ever sent to its rail has had the longest time the rail takes, and nothing came of it. */
  readonly nothingUnderWay: boolean;
  /** Whether the rail once said that it has the collection. */
  readonly opened: boolean;
  /** Of the payment link it is an attempt of: whether that still waits for its money. */
  readonly link: 'waiting' | 'ended' | null;
}

const NOTHING: Judgement = { move: null, bookings: [], oddities: [] };

/**
 * A message is believed when it says what was to be expected: the payment we asked for, of an open payin. Everything else
 * (another amount, an end without money, money for what has ended or is unknown) is `doubtful`: the rail is asked
 * about it, and its answer decides.
 * @param isBooked whether the money of an execution is in the ledger already
 */
export function judgeMessage(
  payin: Judged | null,
  told: Told,
  isBooked: (executionId: string) => boolean,
): Judgement | 'known' | 'doubtful' {
  if (told.kind === 'paid') {
    if (isBooked(told.executionId)) return 'known';
    if (payin === null || isFinal(payin.status) || told.amount !== payin.amount) return 'doubtful';
    return received(payin, told, 'paid, by notice');
  }
  if (payin === null) return 'doubtful';
  if (payin.status === 'CONFIRMED')
    return told.kind === 'refused' ? 'known' : { ...NOTHING, oddities: [contradiction()] };
  if (isFinal(payin.status)) return 'known';
  // Past its time a refusal may be the answer to our own closing: then the rail is asked, as for any end.
  const refused = told.kind === 'refused' && !payin.expired;
  return refused ? { ...NOTHING, move: ended(told.errorCode, 'refused by the rail') } : 'doubtful';
}

/**
 * How a collection stands at its rail, by the rail's own answer: that is believed. Each payment is booked once; the first
 * confirms an open payin, whatever it amounts to, the rest goes to suspense.
 * @param told the message that led to asking, if one did
 */
export function judgeStanding(
  payin: Judged | null,
  standing: Pick<Standing, 'state' | 'payments' | 'errorCode'>,
  isBooked: (executionId: string) => boolean,
  told: Told | null,
): Judgement {
  const fresh = distinct(standing.payments).filter((payment) => !isBooked(payment.executionId));
  const [first, ...rest] = payin !== null && !isFinal(payin.status) ? inOrder(fresh) : [];
  const odd = first === undefined ? fresh : rest;
  const base =
    payin !== null && first !== undefined
      ? received(payin, first, 'paid, when asked')
      : { ...NOTHING, move: standing.payments.length > 0 ? null : endOf(payin, standing) };
  const status = base.move?.to ?? payin?.status ?? null;
  return {
    move: base.move,
    bookings: [...base.bookings, ...odd.map((payment) => booking(payment, 'suspense'))],
    oddities: [
      ...base.oddities,
      ...odd.map((payment) => tooMuch(payment, status)),
      ...unfit(status, standing, told),
      ...(payin !== null && base.move === null ? stuck(payin, standing) : []),
    ],
  };
}

/**
 * Whether the rail's answer bears a message out. When not, the answer may simply be older: a rail's books follow its
 * messages by a moment.
 */
export function standsBy(
  payin: Judged | null,
  { state, payments }: Pick<Standing, 'state' | 'payments'>,
  told: Told,
): boolean {
  if (told.kind === 'paid') return payments.some((payment) => payment.executionId === told.executionId);
  return payments.length > 0 || (payin !== null && (state !== 'open' || isFinal(payin.status)));
}

/** An answer that leaves an open payin open for ever: somebody must look, and the rail is asked on. */
function stuck(payin: Judged, { state, payments }: Pick<Standing, 'state' | 'payments'>): Oddity[] {
  if (isFinal(payin.status)) return [];
  const [booked] = payments;
  // Its money was booked for another: a message named the wrong collection.
  if (booked) return [{ kind: 'contradiction', executionId: booked.executionId, amount: null }];
  return state === 'not_found' && payin.opened && payin.expired ? [contradiction()] : [];
}

function distinct(payments: readonly Payment[]): Payment[] {
  return [...new Map(payments.map((payment) => [payment.executionId, payment])).values()];
}

/** Only the rail's clear word ends an open payin without money. */
function endOf(
  payin: Judged | null,
  { state, errorCode }: Pick<Standing, 'state' | 'errorCode'>,
): Move | null {
  if (payin === null || isFinal(payin.status)) return null;
  if (state === 'declined') return ended(errorCode ?? 'RAIL_REJECTED', 'declined by the rail');
  if (!payin.expired) return null;
  if (state === 'closed') return ended('EXPIRED', 'expired: closed and unpaid');
  return state === 'not_found' && payin.nothingUnderWay ? ended('EXPIRED', 'expired: never sent') : null;
}

const OF_THE_PAYER: ReadonlySet<RailErrorCode> = new Set(['PAYER_CANCELED', 'PAYER_ABANDONED', 'EXPIRED']);

function ended(errorCode: RailErrorCode, cause: MoveCause): Move {
  const canceled = OF_THE_PAYER.has(errorCode);
  return {
    to: canceled ? 'CANCELED' : 'DECLINED',
    confirmedAmount: null,
    errorCode,
    settles: false,
    cause: canceled && cause === 'declined by the rail' ? 'ended by the payer' : cause,
  };
}

/**
 * The money that confirms an open payin. Of a direct payin all of it is the merchant's. A payment link asks for its amount:
 * less, or money for a link that has ended, waits in suspense, and so does what is beyond it.
 */
function received(
  payin: Judged,
  payment: { readonly executionId: string; readonly amount: Cents },
  cause: MoveCause,
): Judgement {
  const { executionId, amount } = payment;
  const move = { to: 'CONFIRMED', confirmedAmount: amount, errorCode: null, settles: true, cause } as const;
  if (payin.link === null || (payin.link === 'waiting' && amount === payin.amount))
    return { move, bookings: [booking(payment, 'pending')], oddities: [] };
  if (payin.link === 'ended' || amount < payin.amount)
    return {
      move: { ...move, settles: false },
      bookings: [booking(payment, 'suspense')],
      oddities: [{ kind: payin.link === 'ended' ? 'paid_again' : 'underpaid', executionId, amount }],
    };
  const excess = cents(amount - payin.amount);
  return {
    move,
    bookings: [
      { executionId, amount: payin.amount, into: 'pending' },
      { executionId, amount: excess, into: 'suspense', excess: true },
    ],
    oddities: [{ kind: 'overpaid', executionId, amount: excess }],
  };
}

function booking(
  { executionId, amount }: { executionId: string; amount: Cents },
  into: Booking['into'],
): Booking {
  return { executionId, amount, into };
}

function tooMuch({ executionId, amount }: Payment, status: PayinStatus | null): Oddity {
  const kind = status === null ? 'unmatched' : status === 'CONFIRMED' ? 'paid_again' : 'paid_late';
  return { kind, executionId, amount };
}

function contradiction(): Oddity {
  return { kind: 'contradiction', executionId: null, amount: null };
}

/** A message that the rail, asked, does not stand by. */
function unfit(
  status: PayinStatus | null,
  standing: Pick<Standing, 'payments'>,
  told: Told | null,
): Oddity[] {
  if (told === null) return [];
  if (told.kind !== 'paid') {
    if (status === 'CONFIRMED') return [contradiction()];
    return status === null && standing.payments.length === 0
      ? [{ kind: 'unmatched', executionId: null, amount: null }]
      : [];
  }
  const { executionId } = told;
  if (standing.payments.some((payment) => payment.executionId === executionId)) return [];
  return [{ kind: status === null ? 'unmatched' : 'unfounded', executionId, amount: null }];
}

/** The one that came first confirms; a rail that does not say when is taken in the order it lists them. */
function inOrder(payments: readonly Payment[]): Payment[] {
  return payments.toSorted((a, b) => (a.at?.getTime() ?? 0) - (b.at?.getTime() ?? 0));
}
