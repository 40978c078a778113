import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';
import type { Listing, OrderEnding, Receiver } from './payout-step.ts';
import type { Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

const TEST_KEYS = {
  ok: '@TESTOK',
  declined: '@TESTDECLINED',
  never: '@TESTTIMEOUT',
  'lost answer': '@TESTLOSTANSWER',
  suspended: '@TESTSUSPENDED',
  missing: '@TESTNOTFOUND',
} as const satisfies Record<Exclude<Receiver, 'own'>, string>;

const FIRST_HOLDER = { documentNumber: '1000000099', names: 'JANETH SMITH PRUEBA' };
const OTHER_HOLDER = { documentNumber: '1000000098', names: 'PEDRO OTRO PRUEBA' };

/** The key in its normal form. The history's own one is put into the directory when it is first needed. */
export async function keyOf(history: History, to: Receiver): Promise<string> {
  if (to !== 'own') return TEST_KEYS[to];
  if (history.ownKey === null) {
    history.ownKey = `@OWN${history.world.freshName().toUpperCase().replaceAll('-', '')}`;
    await history.world.control.list({ key: history.ownKey, person: FIRST_HOLDER });
  }
  return history.ownKey;
}

const LISTINGS = {
  'other person': { person: OTHER_HOLDER },
  suspended: { status: 'SUSPENDED_BY_CLIENT' },
  gone: { person: null },
  back: { person: FIRST_HOLDER, status: 'ACTIVE' },
} as const satisfies Record<Listing, object>;

export async function directory(history: History, { how }: StepOf<'directory'>): Promise<void> {
  const key = await keyOf(history, 'own');
  await history.world.control.list({ key, ...LISTINGS[how] });
}

/** Found, and masked; or the directory's no. An organization that has asked for too many strangers is told to wait. */
const LOOKUP_ANSWERS: ReadonlySet<number> = new Set([200, 404, 422, 429]);

export async function lookUp(history: History, { to, api }: StepOf<'look up'>): Promise<void> {
  const key = await keyOf(history, to);
  const answer = await history.merchant(api).lookUp(key);
  const { status, body } = answer;
  const details = body['details'] as
    | { readonly keyString: string; readonly documentNumber: string }
    | undefined;
  const lawful =
    status === 200
      ? details?.keyString === key && details.documentNumber.startsWith('****00')
      : LOOKUP_ANSWERS.has(status);
  if (!lawful) throw new InvariantViolation({ promise: 'answers', about: { lookUp: key, answer } });
}

const ENDINGS = {
  settled: { outcome: 'SETTLED' },
  refused: { outcome: 'REJECTED', code: '4016' },
  limit: { outcome: 'REJECTED', code: '4013' },
  fraud: { outcome: 'REJECTED', code: '4011' },
} as const satisfies Record<OrderEnding, object>;

export async function endOrder(
  history: History,
  { nth, how, anyway }: Omit<StepOf<'end order'>, 'do'>,
): Promise<void> {
  const payout = history.payout(nth);
  if (!payout) return;
  await history.world.control.endOrder({ endToEndId: payout.endToEndId, ...ENDINGS[how], anyway });
}
