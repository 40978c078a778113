import type { History } from './history.ts';
import { InvariantViolation } from './invariant-violation.ts';
import { type KnownPayin, resourceReference } from './known-payin.ts';
import { type Answer, type PayinRequest, payinRequest } from './merchant.ts';
import type { Order, Step } from './step.ts';

type StepOf<Do extends Step['do']> = Extract<Step, { readonly do: Do }>;

export async function create(history: History, step: StepOf<'create'>): Promise<void> {
  const request = payinRequest(step, history.world.freshName());
  const answer = await history.merchant(step.api).create(request);
  expectStatus(answer, [201, ...(answer.repeated ? [409] : [])], request);
  remember(history, step, request, await existing(history, answer));
}

/** A creation answered with 503 may have taken effect; its repeat then finds its own reference taken. */
async function existing(history: History, answer: Answer): Promise<Answer> {
  return answer.status === 409 ? history.merchant(0).get(`/payins/${getId(answer)}`) : answer;
}

/** Two concurrent requests create one payin, and both return it; without an idempotency key one returns 409. */
export async function createConcurrently(history: History, step: StepOf<'concurrent_payins'>): Promise<void> {
  const request = payinRequest(step, history.world.freshName());
  const answers = await Promise.all([0, 1].map((api) => history.merchant(api).create(request)));
  const made = answers.filter(({ status }) => status === 201);
  const first = made.find(({ replayed }) => !replayed) ?? made[0] ?? answers.find(({ repeated }) => repeated);
  if (!first)
    throw new InvariantViolation({ invariant: 'one_payin_per_request', about: { request, answers } });
  remember(history, step, request, await existing(history, first));
  for (const answer of answers) {
    expectStatus(answer, step.idempotent ? [201] : [201, 409], request);
    if (getId(answer) !== getId(first))
      throw new InvariantViolation({ invariant: 'one_payin_per_request', about: { request, answers } });
  }
  const unrepeated = answers.every(({ repeated }) => !repeated);
  if (unrepeated && made.filter(({ replayed }) => !replayed).length !== 1)
    throw new InvariantViolation({ invariant: 'one_payin_per_request', about: { request, answers } });
}

/** A repeat returns the first response; the same key with another body and the same reference with another key are rejected. */
export async function repeat(history: History, step: StepOf<'repeat'>): Promise<void> {
  const payin = history.payin(step.nth);
  if (!payin?.request) return;
  const request = repeated(payin.request, step.how);
  const answer = await history.merchant(step.api).create(request);
  const idempotent = request.idempotencyKey !== null;
  const status = step.how === 'other_key' || !idempotent ? 409 : step.how === 'same' ? 201 : 422;
  expectStatus(answer, [status], request);
  const isFirst = status === 422 || getId(answer) === payin.id;
  const isReplay = status !== 201 || (answer.replayed && showsCreation(answer, payin));
  if (!isFirst || !isReplay)
    throw new InvariantViolation({ invariant: 'one_payin_per_request', about: { request, answer } });
}

function repeated(request: PayinRequest, how: StepOf<'repeat'>['how']): PayinRequest {
  const { body, idempotencyKey } = request;
  if (how === 'same') return request;
  if (how === 'other_key') return { body, idempotencyKey: `other-${body.reference}` };
  return { body: { ...body, amountInCents: body.amountInCents + 1 }, idempotencyKey };
}

/** A replay shows the status at creation, never a later one. */
function showsCreation({ body }: Answer, { cents }: KnownPayin): boolean {
  const open = body['status'] === 'PROCESSING' || body['status'] === 'PENDING';
  return open && body['amountInCents'] === cents && body['confirmedAmountInCents'] === null;
}

/** The responses of both APIs match the row read before or after them. */
export async function read(history: History, { nth }: StepOf<'read'>): Promise<void> {
  const payin = history.payin(nth);
  if (!payin) return;
  const before = await history.row(payin.id);
  const answers = await Promise.all(history.merchants.map((merchant) => merchant.get(`/payins/${payin.id}`)));
  const after = await history.row(payin.id);
  const rows = [before, after].map((row) => row && [row.status, row.confirmed, row.error].join());
  for (const { status, body } of answers) {
    const response = [body['status'], body['confirmedAmountInCents'], body['errorCode']].join();
    const valid = status === 200 && body['amountInCents'] === payin.cents;
    const between = before?.status === 'PENDING' && body['status'] === 'PROCESSING';
    if (!valid || !(rows.includes(response) || between))
      throw new InvariantViolation({ invariant: 'responses_match_rows', about: { body, before, after } });
  }
}

const BALANCE = `select json_object_agg(account, balance_in_cents::text) as balance
  from caudal.ledger_balances where organization_id = $1`;

export async function balance(history: History): Promise<void> {
  const readBalance = async () => {
    const [row] = await history.world.database.query<{ balance: Record<string, string> }>(
      'balance',
      BALANCE,
      [history.organizationId],
    );
    return JSON.stringify(
      ['available', 'pending', 'held'].map((account) => Number(row?.balance[account] ?? Number.NaN)),
    );
  };
  for (const merchant of history.merchants) {
    const before = await readBalance();
    const { status, body } = await merchant.get('/balance');
    const response = JSON.stringify([body['availableInCents'], body['pendingInCents'], body['heldInCents']]);
    const after = await readBalance();
    // If the balance changed between the reads, the response may show a value in between.
    if (status !== 200 || (before === after && response !== before))
      throw new InvariantViolation({
        invariant: 'responses_match_rows',
        about: { status, body, before, after },
      });
  }
}

function remember(history: History, { rail, cents }: Order, request: PayinRequest, answer: Answer): void {
  const { body } = answer;
  const id = getId(answer);
  const { keyString } = body['sourceData'] as { readonly keyString?: string };
  const open = body['status'] === 'PROCESSING' || (rail === 'PSE' && body['status'] === 'PENDING');
  if (!open || body['amountInCents'] !== cents || body['reference'] !== request.body.reference)
    throw new InvariantViolation({ invariant: 'responses_match_rows', about: { request, body } });
  if (history.payins.some((payin) => payin.id === id))
    throw new InvariantViolation({ invariant: 'one_payin_per_request', about: { request, body } });
  history.payins.push({
    id,
    rail,
    cents,
    request,
    linkId: null,
    railReference: keyString ?? resourceReference(id, history.organizationNumber),
    expiresAtMs: Date.parse(String(body['expiresAt'])),
  });
}

export function getId({ status, body }: Answer): string {
  return String(status === 409 ? body['existingId'] : body['id']);
}

function expectStatus(answer: Answer, expected: readonly number[], request: PayinRequest): void {
  if (!expected.includes(answer.status))
    throw new InvariantViolation({
      invariant: 'one_payin_per_request',
      about: { expected, answer, request },
    });
}
