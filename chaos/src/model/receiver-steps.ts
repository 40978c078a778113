import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';
import type { Listing, OrderEnding, Receiver } from './payout-step.ts';
import type { Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

const TEST_KEYS = {
  ok: '@TESTOK',
  declined: '@TESTDECLINED',
  never: '@TESTTIMEOUT',
  lost_answer: '@TESTLOSTANSWER',
  suspended: '@TESTSUSPENDED',
  missing: '@TESTNOTFOUND',
} as const satisfies Record<Exclude<Receiver, 'own'>, string>;

const FIRST_HOLDER = { documentNumber: '1000000099', names: 'JANETH SMITH PRUEBA' };
const OTHER_HOLDER = { documentNumber: '1000000098', names: 'PEDRO OTRO PRUEBA' };

/** Returns the normalized key. Adds the history's own key to the directory when it is first needed. */
export async function getKey(history: History, to: Receiver): Promise<string> {
  if (to !== 'own') return TEST_KEYS[to];
  if (history.ownKey === null) {
    history.ownKey = `@OWN${history.world.freshName().toUpperCase().replaceAll('-', '')}`;
    await history.world.control.list({ key: history.ownKey, person: FIRST_HOLDER });
  }
  return history.ownKey;
}

const LISTINGS = {
  other_person: { person: OTHER_HOLDER },
  suspended: { status: 'SUSPENDED_BY_CLIENT' },
  gone: { person: null },
  back: { person: FIRST_HOLDER, status: 'ACTIVE' },
} as const satisfies Record<Listing, object>;

export async function directory(history: History, { how }: StepOf<'directory'>): Promise<void> {
  const key = await getKey(history, 'own');
  await history.world.control.list({ key, ...LISTINGS[how] });
}

/** Found, rejected by the directory, or rate limited after too many lookups of unknown receivers. */
const LOOKUP_ANSWERS: ReadonlySet<number> = new Set([200, 404, 422, 429]);

export async function lookUp(history: History, { to, api }: StepOf<'look_up'>): Promise<void> {
  const key = await getKey(history, to);
  const answer = await history.merchant(api).lookUp(key);
  const { status, body } = answer;
  const details = body['details'] as
    | { readonly keyString: string; readonly documentNumber: string }
    | undefined;
  const valid =
    status === 200
      ? details?.keyString === key && details.documentNumber.startsWith('****00')
      : LOOKUP_ANSWERS.has(status);
  if (!valid)
    throw new InvariantViolation({ invariant: 'responses_match_rows', about: { lookUp: key, answer } });
}

const ENDINGS = {
  settled: { outcome: 'SETTLED' },
  refused: { outcome: 'REJECTED', code: '4016' },
  limit: { outcome: 'REJECTED', code: '4013' },
  fraud: { outcome: 'REJECTED', code: '4011' },
} as const satisfies Record<OrderEnding, object>;

export async function endOrder(
  history: History,
  { nth, how, anyway }: Omit<StepOf<'end_order'>, 'do'>,
): Promise<void> {
  const payout = history.payout(nth);
  if (!payout) return;
  await history.world.control.endOrder({ endToEndId: payout.endToEndId, ...ENDINGS[how], anyway });
}
