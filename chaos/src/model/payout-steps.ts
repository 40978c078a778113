import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';
import { resourceReference } from './known-payin.ts';
import type { KnownPayout } from './known-payout.ts';
import { HeldLock, LOCK_BALANCE } from './locks.ts';
import { type Answer, type PayoutRequest, payoutRequest } from './merchant.ts';
import { getId } from './merchant-steps.ts';
import type { PayoutOrder } from './payout-step.ts';
import { getKey } from './receiver-steps.ts';
import { awaitLockWaiters } from './stack-steps.ts';
import type { Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

/** If the lookup rejects the key, a merchant that pays with that lookup creates no payout. */
export async function payout(history: History, step: StepOf<'payout'>): Promise<void> {
  const request = await prepare(history, step, step.api);
  if (!request) return;
  const before = await history.world.funds(history.organizationId);
  const answer = await history.merchant(step.api).createPayout(request);
  const made = remember(history, request, await existing(history, answer, request));
  await expectFunds(history, made, before);
}

export async function payoutThenCancel(history: History, step: StepOf<'payout_then_cancel'>): Promise<void> {
  const request = await prepare(history, step, step.api);
  if (!request) return;
  const answer = await history.merchant(step.api).createPayout(request);
  remember(history, request, await existing(history, answer, request));
  await cancel(history, { do: 'cancel', nth: -1, both: step.both });
}

async function prepare(history: History, order: PayoutOrder, api: number): Promise<PayoutRequest | null> {
  const keyString = await getKey(history, order.to);
  const lookup = order.lookUp === 'no' ? null : await history.merchant(api).lookUp(keyString);
  const lookupId = lookup?.status === 200 ? String(lookup.body['lookupId']) : undefined;
  if (order.lookUp === 'named' && lookupId === undefined) return null;
  const { available, held } = await history.world.funds(history.organizationId);
  const cents = order.covered ? order.cents : Number(available + held) + order.cents;
  const breb = { keyString, ...(order.lookUp === 'named' && lookupId ? { lookupId } : {}) };
  return payoutRequest({ cents, idempotent: order.idempotent }, history.world.freshName(), breb);
}

/** A creation answered with 503 may have taken effect; its repeat then finds its own reference taken. */
async function existing(history: History, answer: Answer, request: PayoutRequest): Promise<Answer> {
  if (answer.status === 201) return answer;
  if (answer.status !== 409 || !answer.repeated)
    throw new InvariantViolation({ invariant: 'one_payout_per_request', about: { answer, request } });
  const found = await history.merchant(0).get(`/payouts/${getId(answer)}`);
  return { ...found, body: { ...found.body, status: 'PROCESSING' } };
}

/** While a payout is created, the available balance only grows, at most by the held balance. */
async function expectFunds(
  history: History,
  { id, cents }: KnownPayout,
  { available, held }: { readonly available: bigint; readonly held: bigint },
): Promise<void> {
  const row = await history.payoutRow(id);
  const unfunded = row?.error === 'INSUFFICIENT_FUNDS' && row.attempts === 0;
  const wrong = unfunded ? BigInt(cents) <= available : BigInt(cents) > available + held;
  if (wrong)
    throw new InvariantViolation({ invariant: 'hold_requires_funds', about: { row, available, held } });
}

/** Two concurrent requests create one payout, and both return it; without an idempotency key one returns 409. */
export async function payoutsConcurrently(
  history: History,
  step: StepOf<'concurrent_payouts'>,
): Promise<void> {
  const request = await prepare(history, step, 0);
  if (!request) return;
  const answers = await Promise.all([0, 1].map((api) => history.merchant(api).createPayout(request)));
  const made = answers.filter(({ status }) => status === 201);
  const first = made.find(({ replayed }) => !replayed) ?? made[0] ?? answers.find(({ repeated }) => repeated);
  const about = { request, answers };
  if (!first) throw new InvariantViolation({ invariant: 'one_payout_per_request', about });
  remember(history, request, await existing(history, first, request));
  const valid = answers.every(
    (answer) =>
      getId(answer) === getId(first) &&
      (answer.status === 201 || (answer.status === 409 && !step.idempotent)),
  );
  const fresh = made.filter(({ replayed }) => !replayed).length;
  const unrepeated = answers.every(({ repeated }) => !repeated);
  if (!valid || (unrepeated && fresh !== 1))
    throw new InvariantViolation({ invariant: 'one_payout_per_request', about });
}

/** Below the network's limit: a rejection could release the money of one payout before another is created. */
const MAX_COMPETING_CENTS = 1_000_000_000n;

/**
 * The balance covers all of them but one, whichever is last. Two that meet at its lock may exceed the network's limit: the
 * release of the first waits for the lock behind the second.
 */
export async function competingPayouts(
  history: History,
  { meet }: StepOf<'competing_payouts'>,
): Promise<void> {
  const { world, organizationId } = history;
  const held = meet ? await HeldLock.acquire(world.stack.databaseUrl, LOCK_BALANCE, [organizationId]) : null;
  const before = await world.funds(organizationId);
  const total = before.available + before.held;
  const half = total / 2n + 1n;
  const cents = meet || half < MAX_COMPETING_CENTS ? half : MAX_COMPETING_CENTS;
  const covered = Number(total / cents);
  const keyString = await getKey(history, 'ok');
  const making = Promise.all(
    Array.from({ length: Math.max(2, covered + 1) }, async (_, index) => {
      const amount = { cents: Number(cents), idempotent: true };
      const request = payoutRequest(amount, world.freshName(), { keyString });
      const answer = await history.merchant(index % 2).createPayout(request);
      return remember(history, request, await existing(history, answer, request));
    }),
  );
  const [made] = await Promise.all([making, held && releaseWhenBothWait(history, held)]);
  const rows = await Promise.all(made.map(({ id }) => history.payoutRow(id)));
  const funded = rows.filter((row) => row?.error !== 'INSUFFICIENT_FUNDS').length;
  if (funded > covered || (funded === 0 && cents <= before.available))
    throw new InvariantViolation({ invariant: 'hold_requires_funds', about: { before, rows } });
}

async function releaseWhenBothWait(history: History, held: HeldLock): Promise<void> {
  try {
    await awaitLockWaiters(history, 2);
  } finally {
    await held.release();
  }
}

/** A repeat returns the first response; the same key with another body and the same reference with another key are rejected. */
export async function repeatPayout(history: History, step: StepOf<'repeat_payout'>): Promise<void> {
  const known = history.payout(step.nth);
  if (!known) return;
  const request = repeated(known, step.how);
  const answer = await history.merchant(step.api).createPayout(request);
  const status = expectedStatus(step.how, request);
  const isFirst = status === 422 || getId(answer) === known.id;
  const isReplay = status !== 201 || (answer.replayed && showsCreation(answer, known));
  if (answer.status === status && isFirst && isReplay) return;
  throw new InvariantViolation({
    invariant: 'one_payout_per_request',
    about: { request, answer, expected: status },
  });
}

function expectedStatus(how: StepOf<'repeat_payout'>['how'], { idempotencyKey }: PayoutRequest): number {
  if (how === 'other_key' || idempotencyKey === null) return 409;
  return how === 'same' ? 201 : 422;
}

function repeated({ request }: KnownPayout, how: StepOf<'repeat_payout'>['how']): PayoutRequest {
  const { body, idempotencyKey } = request;
  if (how === 'same') return request;
  if (how === 'other_key') return { body, idempotencyKey: `other-${body.reference}` };
  return { body: { ...body, amountInCents: body.amountInCents + 1 }, idempotencyKey };
}

/** A replay shows the status at creation, never a later one, even for insufficient funds. */
function showsCreation({ body }: Answer, { cents }: Pick<KnownPayout, 'cents'>): boolean {
  return body['status'] === 'PROCESSING' && body['errorCode'] === null && body['amountInCents'] === cents;
}

function remember(history: History, request: PayoutRequest, answer: Answer): KnownPayout {
  const { body } = answer;
  const id = getId(answer);
  const cents = request.body.amountInCents;
  const { keyString } = body['sourceData'] as { readonly keyString: string };
  if (!showsCreation(answer, { cents }) || body['reference'] !== request.body.reference)
    throw new InvariantViolation({ invariant: 'responses_match_rows', about: { request, body } });
  if (history.payouts.some((each) => each.id === id))
    throw new InvariantViolation({ invariant: 'one_payout_per_request', about: { request, body } });
  const endToEndId = resourceReference(id, history.organizationNumber);
  const made = { id, cents, key: keyString, request, endToEndId };
  history.payouts.push(made);
  return made;
}

/** The response holds from then on: canceled, already sent, or ended without having been sent. */
export async function cancel(history: History, { nth, both }: StepOf<'cancel'>): Promise<void> {
  const known = history.payout(nth);
  if (!known) return;
  const merchants = both ? history.merchants : history.merchants.slice(0, 1);
  const answers = await Promise.all(merchants.map((merchant) => merchant.cancel(known.id)));
  const row = await history.payoutRow(known.id);
  for (const answer of answers) {
    const { status, body } = answer;
    const valid =
      (status === 200 && row?.status === 'CANCELED' && body['status'] === 'CANCELED') ||
      (status === 409 && body['code'] === 'payout_already_sent' && (row?.attempts ?? 0) > 0) ||
      (status === 409 && body['code'] === 'payout_ended' && row?.status === 'DECLINED');
    if (!valid)
      throw new InvariantViolation({ invariant: 'responses_match_rows', about: { cancel: answer, row } });
  }
}

/** The responses of both APIs match the row read before or after them. */
export async function readPayout(history: History, { nth }: StepOf<'read_payout'>): Promise<void> {
  const known = history.payout(nth);
  if (!known) return;
  const before = await history.payoutRow(known.id);
  const answers = await Promise.all(
    history.merchants.map((merchant) => merchant.get(`/payouts/${known.id}`)),
  );
  const after = await history.payoutRow(known.id);
  const rows = [before, after].map((row) => row && [row.status, row.error].join());
  for (const { status, body } of answers) {
    const response = [body['status'], body['errorCode']].join();
    if (status !== 200 || body['amountInCents'] !== known.cents || !rows.includes(response))
      throw new InvariantViolation({ invariant: 'responses_match_rows', about: { body, before, after } });
  }
}
