import type { History } from './history.ts';
import { HOLD_BALANCE, Hold } from './holds.ts';
import { InvariantViolation } from './invariant-violation.ts';
import { resourceReference } from './known-payin.ts';
import type { KnownPayout } from './known-payout.ts';
import { type Answer, type PayoutRequest, payoutRequest } from './merchant.ts';
import { idIn } from './merchant-steps.ts';
import type { PayoutOrder } from './payout-step.ts';
import { keyOf } from './receiver-steps.ts';
import { waiters } from './stage-steps.ts';
import type { Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

/** A key that cannot be paid to is told by its lookup, and a merchant who names one leaves it there. */
export async function payout(history: History, step: StepOf<'payout'>): Promise<void> {
  const request = await prepare(history, step, step.api);
  if (!request) return;
  const before = await history.world.funds(history.organizationId);
  const answer = await history.merchant(step.api).createPayout(request);
  const made = remember(history, request, await existing(history, answer, request));
  await expectCover(history, made, before);
}

export async function fleetingPayout(history: History, step: StepOf<'fleeting payout'>): Promise<void> {
  const request = await prepare(history, step, step.api);
  if (!request) return;
  const answer = await history.merchant(step.api).createPayout(request);
  remember(history, request, await existing(history, answer, request));
  await cancel(history, { do: 'cancel', nth: -1, both: step.both });
}

async function prepare(history: History, order: PayoutOrder, api: number): Promise<PayoutRequest | null> {
  const keyString = await keyOf(history, order.to);
  const lookup = order.lookUp === 'no' ? null : await history.merchant(api).lookUp(keyString);
  const lookupId = lookup?.status === 200 ? String(lookup.body['lookupId']) : undefined;
  if (order.lookUp === 'named' && lookupId === undefined) return null;
  const { available, held } = await history.world.funds(history.organizationId);
  const cents = order.covered ? order.cents : Number(available + held) + order.cents;
  const breb = { keyString, ...(order.lookUp === 'named' && lookupId ? { lookupId } : {}) };
  return payoutRequest({ cents, keyed: order.keyed }, history.world.freshName(), breb);
}

/** Told 503 first, a creation may have taken effect all the same: then its repeat finds the name taken, by itself. */
async function existing(history: History, answer: Answer, request: PayoutRequest): Promise<Answer> {
  if (answer.status === 201) return answer;
  if (answer.status !== 409 || !answer.repeated)
    throw new InvariantViolation({ promise: 'onePayout', about: { answer, request } });
  const found = await history.merchant(0).get(`/payouts/${idIn(answer)}`);
  return { ...found, body: { ...found.body, status: 'PROCESSING' } };
}

/** What is available only grows while a payout is made, and by no more than what is held. */
async function expectCover(
  history: History,
  { id, cents }: KnownPayout,
  { available, held }: { readonly available: bigint; readonly held: bigint },
): Promise<void> {
  const row = await history.payoutRow(id);
  const unfunded = row?.error === 'INSUFFICIENT_FUNDS' && row.attempts === 0;
  const wrong = unfunded ? BigInt(cents) <= available : BigInt(cents) > available + held;
  if (wrong) throw new InvariantViolation({ promise: 'covered', about: { row, available, held } });
}

/** One payout comes of the two, and both are told of it; without an idempotency key the second finds the name taken. */
export async function payoutTwins(history: History, step: StepOf<'payout twins'>): Promise<void> {
  const request = await prepare(history, step, 0);
  if (!request) return;
  const answers = await Promise.all([0, 1].map((api) => history.merchant(api).createPayout(request)));
  const made = answers.filter(({ status }) => status === 201);
  const first = made.find(({ replayed }) => !replayed) ?? made[0] ?? answers.find(({ repeated }) => repeated);
  const about = { request, answers };
  if (!first) throw new InvariantViolation({ promise: 'onePayout', about });
  remember(history, request, await existing(history, first, request));
  const lawful = answers.every(
    (answer) =>
      idIn(answer) === idIn(first) && (answer.status === 201 || (answer.status === 409 && !step.keyed)),
  );
  const fresh = made.filter(({ replayed }) => !replayed).length;
  const unrepeated = answers.every(({ repeated }) => !repeated);
  if (!lawful || (unrepeated && fresh !== 1)) throw new InvariantViolation({ promise: 'onePayout', about });
}

/** The balance covers one of them, whichever came first. */
export async function rivals(history: History, { meet }: StepOf<'rivals'>): Promise<void> {
  const { world, organizationId } = history;
  const held = meet ? await Hold.on(world.stage.databaseUrl, HOLD_BALANCE, [organizationId]) : null;
  const before = await world.funds(organizationId);
  const cents = Number((before.available + before.held) / 2n) + 1;
  const keyString = await keyOf(history, 'ok');
  const making = Promise.all(
    [0, 1].map(async (api) => {
      const request = payoutRequest({ cents, keyed: true }, world.freshName(), { keyString });
      const answer = await history.merchant(api).createPayout(request);
      return remember(history, request, await existing(history, answer, request));
    }),
  );
  const [made] = await Promise.all([making, held && letThemMeet(history, held)]);
  const rows = await Promise.all(made.map(({ id }) => history.payoutRow(id)));
  const funded = rows.filter((row) => row?.error !== 'INSUFFICIENT_FUNDS').length;
  if (funded > 1 || (funded === 0 && BigInt(cents) <= before.available))
    throw new InvariantViolation({ promise: 'covered', about: { before, rows } });
}

async function letThemMeet(history: History, held: Hold): Promise<void> {
  try {
    await waiters(history, 2);
  } finally {
    await held.letGo();
  }
}

/** A repeat is the first answer again; the same key for something else, and the same name under another key, are refused. */
export async function repeatPayout(history: History, step: StepOf<'repeat payout'>): Promise<void> {
  const known = history.payout(step.nth);
  if (!known) return;
  const request = repeated(known, step.how);
  const answer = await history.merchant(step.api).createPayout(request);
  const status = wantedOf(step.how, request);
  const isFirst = status === 422 || idIn(answer) === known.id;
  const isReplay = status !== 201 || (answer.replayed && showsCreation(answer, known));
  if (answer.status === status && isFirst && isReplay) return;
  throw new InvariantViolation({ promise: 'onePayout', about: { request, answer, expected: status } });
}

function wantedOf(how: StepOf<'repeat payout'>['how'], { idempotencyKey }: PayoutRequest): number {
  if (how === 'other key' || idempotencyKey === null) return 409;
  return how === 'same' ? 201 : 422;
}

function repeated({ request }: KnownPayout, how: StepOf<'repeat payout'>['how']): PayoutRequest {
  const { body, idempotencyKey } = request;
  if (how === 'same') return request;
  if (how === 'other key') return { body, idempotencyKey: `other-${body.reference}` };
  return { body: { ...body, amountInCents: body.amountInCents + 1 }, idempotencyKey };
}

/** Never a later state, lack of funds included: a merchant that repeats must not be told another outcome. */
function showsCreation({ body }: Answer, { cents }: Pick<KnownPayout, 'cents'>): boolean {
  return body['status'] === 'PROCESSING' && body['errorCode'] === null && body['amountInCents'] === cents;
}

function remember(history: History, request: PayoutRequest, answer: Answer): KnownPayout {
  const { body } = answer;
  const id = idIn(answer);
  const cents = request.body.amountInCents;
  const { keyString } = body['sourceData'] as { readonly keyString: string };
  if (!showsCreation(answer, { cents }) || body['reference'] !== request.body.reference)
    throw new InvariantViolation({ promise: 'answers', about: { request, body } });
  if (history.payouts.some((each) => each.id === id))
    throw new InvariantViolation({ promise: 'onePayout', about: { request, body } });
  const endToEndId = resourceReference(id, history.organizationNumber);
  const made = { id, cents, key: keyString, request, endToEndId };
  history.payouts.push(made);
  return made;
}

/** What is answered is so from then on: canceled for ever, or sent, or ended without having been sent. */
export async function cancel(history: History, { nth, both }: StepOf<'cancel'>): Promise<void> {
  const known = history.payout(nth);
  if (!known) return;
  const merchants = both ? history.merchants : history.merchants.slice(0, 1);
  const answers = await Promise.all(merchants.map((merchant) => merchant.cancel(known.id)));
  const row = await history.payoutRow(known.id);
  for (const answer of answers) {
    const { status, body } = answer;
    const lawful =
      (status === 200 && row?.status === 'CANCELED' && body['status'] === 'CANCELED') ||
      (status === 409 && body['code'] === 'payout_already_sent' && (row?.attempts ?? 0) > 0) ||
      (status === 409 && body['code'] === 'payout_ended' && row?.status === 'DECLINED');
    if (!lawful) throw new InvariantViolation({ promise: 'answers', about: { cancel: answer, row } });
  }
}

/** What both APIs say between two looks at the row is one of the two. */
export async function readPayout(history: History, { nth }: StepOf<'read payout'>): Promise<void> {
  const known = history.payout(nth);
  if (!known) return;
  const before = await history.payoutRow(known.id);
  const answers = await Promise.all(
    history.merchants.map((merchant) => merchant.get(`/payouts/${known.id}`)),
  );
  const after = await history.payoutRow(known.id);
  const rows = [before, after].map((row) => row && [row.status, row.error].join());
  for (const { status, body } of answers) {
    const said = [body['status'], body['errorCode']].join();
    if (status !== 200 || body['amountInCents'] !== known.cents || !rows.includes(said))
      throw new InvariantViolation({ promise: 'answers', about: { body, before, after } });
  }
}
