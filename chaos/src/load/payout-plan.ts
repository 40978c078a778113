import type { Listing } from './rail-control.ts';
import type { Random } from './random.ts';

/** One payout, decided by the seed before anything runs: what it is, to whom, and what else is done to it. */
export interface PayoutPlan {
  /** Unique in its run. */
  readonly name: string;
  /** Which of the run's organizations, by its place. */
  readonly organization: number;
  readonly amountInCents: number;
  readonly key: string;
  readonly receiver: Receiver;
  readonly keyed: boolean;
  readonly lookedUp: boolean;
  readonly way: keyof typeof WAYS;
  /** After its creation was answered; null: nobody cancels it. */
  readonly cancelAfterMs: number | null;
  /** What the network decides or says about its order by hand, and after how long. */
  readonly end: { readonly outcome: 'SETTLED' | 'REJECTED'; readonly afterMs: number } | null;
}

/** Weights. */
const RECEIVERS = {
  ok: 30,
  listed: 36,
  'lost answer': 4,
  declined: 5,
  suspended: 4,
  missing: 4,
  changing: 4,
  'over the limit': 2,
  'beyond funds': 1,
  undecided: 2,
  'rejected, then settled': 2,
  'settled, then denied': 2,
};
type Receiver = keyof typeof RECEIVERS;

const WAYS = { once: 84, 'twice at once': 6, 'repeated later': 7, 'with another body': 3 };

const ORGANIZATIONS = { '0': 32, '1': 28, '2': 25, '3': 15 };
/** Has less than it is asked to pay. */
export const SHORT_OF_FUNDS = 3;
const CANCELED = 0.05;

const PEOPLE = 40;
const NAMES = [
  'ROSA ELENA MARTINEZ',
  'CARLOS ANDRES PEREZ',
  'LUZ MARINA GOMEZ',
  'JORGE IVAN CASTRO',
] as const;

/** What the directory holds before the first payout: people with keys of every kind, and some that are suspended. */
export const LISTINGS: readonly Listing[] = [
  ...Array.from({ length: PEOPLE }, (_, n) => ({ key: keyOfPerson(n), person: person(n) })),
  { key: '3180000001', status: 'SUSPENDED_BY_CLIENT', person: person(41) },
  { key: 'cerrada@correo.example', status: 'SUSPENDED_BY_PARTICIPANT', person: person(42) },
];

export function planPayouts(random: Random, count: number): PayoutPlan[] {
  return Array.from({ length: count }, (_, n) => planPayout(random.branch(), `p${n}`));
}

export function planPayout(random: Random, name: string): PayoutPlan {
  const organization = Number(random.weighted(ORGANIZATIONS));
  const drawn = random.weighted(RECEIVERS);
  // It would take all the money of whoever has little.
  const receiver = drawn === 'over the limit' && organization === SHORT_OF_FUNDS ? 'ok' : drawn;
  return {
    name,
    organization,
    amountInCents: amountFor(random, receiver),
    key: keyFor(random, receiver, name),
    receiver,
    keyed: random.chance(0.95),
    lookedUp: receiver === 'changing' || random.chance(0.2),
    way: random.weighted(WAYS),
    cancelAfterMs: random.chance(CANCELED) ? random.whole(0, 3) * random.whole(0, 60) : null,
    end: endFor(random, receiver),
  };
}

/** The network refuses more than COP 11,552,000; nobody here has ten thousand million. */
function amountFor(random: Random, receiver: Receiver): number {
  if (receiver === 'over the limit') return 1_155_200_001 + random.whole(0, 10_000_000);
  if (receiver === 'beyond funds') return 999_999_000_000 + random.whole(0, 999_999);
  return random.whole(100, 5_000_000);
}

function keyFor(random: Random, receiver: Receiver, name: string): string {
  switch (receiver) {
    case 'listed':
      return keyOfPerson(random.whole(0, PEOPLE - 1));
    case 'lost answer':
      return '@TESTLOSTANSWER';
    case 'declined':
    case 'rejected, then settled':
      return '@TESTDECLINED';
    case 'suspended':
      return random.pick(['@TESTSUSPENDED', '3180000001', 'cerrada@correo.example']);
    case 'missing':
      return random.pick(['@TESTNOTFOUND', '3199999999', 'nadie@correo.example']);
    case 'changing':
      return `@CAMBIA${name.toUpperCase()}`;
    case 'undecided':
      return '@TESTTIMEOUT';
    default:
      return '@TESTOK';
  }
}

function endFor(random: Random, receiver: Receiver): PayoutPlan['end'] {
  const afterMs = random.whole(0, 1500);
  switch (receiver) {
    case 'undecided':
      return { outcome: random.pick(['SETTLED', 'REJECTED']), afterMs };
    case 'rejected, then settled':
      return { outcome: 'SETTLED', afterMs };
    case 'settled, then denied':
      return { outcome: 'REJECTED', afterMs };
    default:
      return null;
  }
}

/** A mobile, an identification, an address, a code or a merchant's code, in turn. */
function keyOfPerson(n: number): string {
  const digits = String(n).padStart(2, '0');
  const kinds = [`30012345${digits}`, `10203040${digits}`, `persona${n}@correo.example`, `@PERSONA${n}`];
  return n % 5 === 4 ? `00123456${digits}` : (kinds[n % 5] ?? '');
}

export function person(n: number): NonNullable<Listing['person']> {
  return { documentNumber: String(52_000_000 + 1117 * n), names: NAMES[n % NAMES.length] ?? NAMES[0] };
}
