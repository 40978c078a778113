import type { Random } from '../run/random.ts';
import type { Listing } from '../stack/rail-control.ts';

/** One payout, drawn from the seed before the run starts: its request, its receiver and the events around it. */
export interface PayoutPlan {
  /** Unique in its run. */
  readonly name: string;
  /** Index into the run's organizations. */
  readonly organization: number;
  readonly amountInCents: number;
  readonly key: string;
  readonly receiver: Receiver;
  readonly idempotent: boolean;
  readonly lookedUp: boolean;
  readonly sendMode: keyof typeof SEND_MODES;
  /** Delay between the acknowledged creation and a cancel; null for no cancel. */
  readonly cancelAfterMs: number | null;
  /** Manual outcome of its order at the network, and its delay. */
  readonly end: { readonly outcome: 'SETTLED' | 'REJECTED'; readonly afterMs: number } | null;
}

/** Weights. */
const RECEIVERS = {
  ok: 30,
  listed: 36,
  lost_answer: 4,
  declined: 5,
  suspended: 4,
  missing: 4,
  changing: 4,
  over_limit: 2,
  beyond_funds: 1,
  undecided: 2,
  rejected_then_settled: 2,
  settled_then_denied: 2,
};
type Receiver = keyof typeof RECEIVERS;

const SEND_MODES = { once: 84, concurrently: 6, repeated_later: 7, other_body: 3 };

const ORGANIZATIONS = { '0': 32, '1': 28, '2': 25, '3': 15 };
/** Index of the organization whose funds do not cover all its payouts. */
export const UNDERFUNDED = 3;
const CANCELED = 0.05;

const PEOPLE = 40;
const NAMES = [
  'ROSA ELENA MARTINEZ',
  'CARLOS ANDRES PEREZ',
  'LUZ MARINA GOMEZ',
  'JORGE IVAN CASTRO',
] as const;

/** Initial entries of the directory: people with keys of every kind, and some suspended keys. */
export const LISTINGS: readonly Listing[] = [
  ...Array.from({ length: PEOPLE }, (_, n) => ({ key: personKey(n), person: person(n) })),
  { key: '3180000001', status: 'SUSPENDED_BY_CLIENT', person: person(41) },
  { key: 'cerrada@correo.example', status: 'SUSPENDED_BY_PARTICIPANT', person: person(42) },
];

export function planPayouts(random: Random, count: number): PayoutPlan[] {
  return Array.from({ length: count }, (_, n) => planPayout(random.branch(), `p${n}`));
}

export function planPayout(random: Random, name: string): PayoutPlan {
  const organization = Number(random.weighted(ORGANIZATIONS));
  const drawn = random.weighted(RECEIVERS);
  // It would use up the funds of the underfunded organization.
  const receiver = drawn === 'over_limit' && organization === UNDERFUNDED ? 'ok' : drawn;
  return {
    name,
    organization,
    amountInCents: amountFor(random, receiver),
    key: keyFor(random, receiver, name),
    receiver,
    idempotent: random.chance(0.95),
    lookedUp: receiver === 'changing' || random.chance(0.2),
    sendMode: random.weighted(SEND_MODES),
    cancelAfterMs: random.chance(CANCELED) ? random.integer(0, 3) * random.integer(0, 60) : null,
    end: endFor(random, receiver),
  };
}

/** The network rejects more than COP 11,552,000; no organization here has COP ten billion. */
function amountFor(random: Random, receiver: Receiver): number {
  if (receiver === 'over_limit') return 1_155_200_001 + random.integer(0, 10_000_000);
  if (receiver === 'beyond_funds') return 999_999_000_000 + random.integer(0, 999_999);
  return random.integer(100, 5_000_000);
}

function keyFor(random: Random, receiver: Receiver, name: string): string {
  switch (receiver) {
    case 'listed':
      return personKey(random.integer(0, PEOPLE - 1));
    case 'lost_answer':
      return '@TESTLOSTANSWER';
    case 'declined':
    case 'rejected_then_settled':
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
  const afterMs = random.integer(0, 1500);
  switch (receiver) {
    case 'undecided':
      return { outcome: random.pick(['SETTLED', 'REJECTED']), afterMs };
    case 'rejected_then_settled':
      return { outcome: 'SETTLED', afterMs };
    case 'settled_then_denied':
      return { outcome: 'REJECTED', afterMs };
    default:
      return null;
  }
}

/** Cycles through key types: mobile number, document number, email, alias and merchant code. */
function personKey(n: number): string {
  const digits = String(n).padStart(2, '0');
  const kinds = [`30012345${digits}`, `10203040${digits}`, `persona${n}@correo.example`, `@PERSONA${n}`];
  return n % 5 === 4 ? `00123456${digits}` : (kinds[n % 5] ?? '');
}

export function person(n: number): NonNullable<Listing['person']> {
  return { documentNumber: String(52_000_000 + 1117 * n), names: NAMES[n % NAMES.length] ?? NAMES[0] };
}
