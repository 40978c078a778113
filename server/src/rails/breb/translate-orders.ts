import { z } from 'zod';
import { decimalAmount } from '../../kit/decimal-amount.ts';
import { type Cents, cents, decimalPesos } from '../../kit/money.ts';
import { printable } from '../../kit/printable.ts';
import {
  type ListedOrder,
  type OrderStatus,
  type PayOrder,
  type RailAnswer,
  type RailNotice,
  type RailPage,
  type Resolution,
  unanswered,
} from '../contract.ts';
import { DEFINITIVE_CODES, ERROR_CODES, ORDER_ERROR_CODES, PARTICIPANT_CODES } from './rejections.ts';
import { indexResults } from './results.ts';

/** @param payerDocument the NIT that pays, regardless of the party on whose behalf the order is sent */
export function toOrderBody(order: PayOrder, payerDocument: string): object {
  return {
    internalId: order.payoutId,
    endToEndId: order.endToEndId,
    resolutionId: order.resolutionId,
    initiation: 'KEY',
    amount: decimalPesos(order.amount),
    currency: 'COP',
    creditor: { key: order.key },
    payer: { documentType: 'NIT', documentNumber: payerDocument, name: order.payerName },
  };
}

const intakeSchema = z.object({
  endToEndId: z.string(),
  status: z.enum(['PROCESSING', 'DUPLICATE', 'REJECTED']),
  code: z.string().nullish(),
});

/**
 * At intake only a definitive decision about this order is a `no`. The node's own failures (5000), "duplicate in process"
 * (5001: it may be our earlier call), timeouts (4017, 4019) and unknown codes are not: the order may be in progress.
 */
const REJECTED_AT_INTAKE: ReadonlySet<string> = new Set([...DEFINITIVE_CODES, '4007', '4008', '4010']);

export function payAnswers(
  orders: readonly PayOrder[],
  body: unknown,
): RailAnswer<'accepted' | 'duplicate'>[] {
  const byId = indexResults(body, intakeSchema, ({ endToEndId }) => endToEndId);
  return orders.map(({ endToEndId, key }) => {
    const result = byId.get(endToEndId);
    if (!result) return unanswered('the node did not answer for this order');
    if (result.status === 'PROCESSING') return { kind: 'yes', value: 'accepted' };
    if (result.status === 'DUPLICATE') return { kind: 'yes', value: 'duplicate' };
    return toIntakeRejection(result.code ?? '', key);
  });
}

function toIntakeRejection(code: string, key: string): RailAnswer<never> {
  const errorCode = ORDER_ERROR_CODES.get(code);
  if (!REJECTED_AT_INTAKE.has(code) || !errorCode)
    return unanswered(`the node rejected with ${toLoggableCode(code, key)}`);
  return { kind: 'no', errorCode, railCode: code, elsewhere: PARTICIPANT_CODES.has(code) };
}

/** Causes are logged. A text that is not a four-digit code could contain personal data, such as the receiver's key. */
function toLoggableCode(code: string, key: string): string {
  return /^\d{4}$/.test(code) && code !== key ? code : 'no code';
}

const orderAmount = decimalAmount.nullish();

const orderStatusSchema = z.object({
  endToEndId: z.string(),
  status: z.enum(['PROCESSING', 'SETTLED', 'REJECTED', 'NOT_FOUND']),
  code: z.string().nullish(),
  executionId: printable(100).nullish(),
  amount: orderAmount,
});

type OrderResult = z.infer<typeof orderStatusSchema>;

export function orderStatusAnswers(endToEndIds: readonly string[], body: unknown): RailAnswer<OrderStatus>[] {
  const byId = indexResults(body, orderStatusSchema, ({ endToEndId }) => endToEndId);
  return endToEndIds.map((endToEndId) => {
    const result = byId.get(endToEndId);
    if (!result) return unanswered('the node did not answer for this order');
    return toOrderStatus(result);
  });
}

const STATES_WITHOUT_MONEY = {
  PROCESSING: 'processing',
  REJECTED: 'rejected',
  NOT_FOUND: 'not_found',
} as const;

function toOrderStatus({
  endToEndId,
  status,
  code,
  executionId,
  amount,
}: OrderResult): RailAnswer<OrderStatus> {
  const nothing = { executionId: null, amount: null, errorCode: null };
  if (status === 'SETTLED') {
    const execution = toExecution(executionId, amount);
    // Without an amount and an execution id, the settlement cannot be posted.
    if (!execution) return unanswered('settled without an execution');
    return { kind: 'yes', value: { ...nothing, endToEndId, state: 'settled', ...execution } };
  }
  const state = STATES_WITHOUT_MONEY[status];
  // An execution means that money was sent: believing the state would refund the merchant.
  if (state !== 'processing' && typeof executionId === 'string')
    return unanswered(`${state} with an execution`);
  const errorCode = state === 'rejected' ? toErrorCode(code) : null;
  return { kind: 'yes', value: { ...nothing, endToEndId, state, errorCode } };
}

/** Null without an execution id or with a zero amount. */
function toExecution(
  executionId: string | null | undefined,
  amount: string | null | undefined,
): { readonly executionId: string; readonly amount: Cents } | null {
  const value = BigInt((amount ?? '0').replace('.', ''));
  return typeof executionId === 'string' && value > 0n ? { executionId, amount: cents(value) } : null;
}

/** After intake every rejection is final, whatever its code. */
function toErrorCode(code: string | null | undefined) {
  return ORDER_ERROR_CODES.get(code ?? '') ?? 'RAIL_REJECTED';
}

const listSchema = z.object({
  results: z.array(
    orderStatusSchema.extend({
      status: z.enum(['PROCESSING', 'SETTLED', 'REJECTED']),
      amount: decimalAmount,
      key: z.string().min(1).max(200),
      receivedAt: z.iso.datetime({ offset: true }).transform((at) => new Date(at)),
    }),
  ),
  next: z.string().max(100).nullable(),
});

/** Unlike other answers, one unreadable order makes the whole page unknown: a comparison must not skip it. */
export function listedOrdersAnswer(body: unknown): RailAnswer<RailPage<ListedOrder>> {
  const read = listSchema.safeParse(body);
  if (!read.success) return unanswered('the list of orders cannot be parsed');
  const items: ListedOrder[] = [];
  for (const { key, receivedAt: orderedAt, ...result } of read.data.results) {
    const answer = toOrderStatus(result);
    if (answer.kind !== 'yes') return unanswered('an order of the list cannot be read');
    const state = STATES[result.status];
    const amount = cents(BigInt(result.amount.replace('.', '')));
    items.push({ ...answer.value, state, amount, key, orderedAt });
  }
  return { kind: 'yes', value: { items, next: read.data.next } };
}

const STATES = { PROCESSING: 'processing', SETTLED: 'settled', REJECTED: 'rejected' } as const;

const noticeSchema = z.object({
  noticeId: printable(100),
  type: z.enum(['ORDER_SETTLED', 'ORDER_REJECTED']),
  endToEndId: printable(40),
  executionId: printable(100).nullish(),
  amount: orderAmount,
  code: z.string().max(20).nullish(),
});

/** @returns null when the message cannot be parsed */
export function orderNotice(message: unknown): RailNotice | null {
  const read = noticeSchema.safeParse(message);
  if (!read.success) return null;
  const { noticeId, type, endToEndId, executionId, amount, code } = read.data;
  const about = { noticeId, about: 'payout', reference: endToEndId } as const;
  if (type === 'ORDER_SETTLED') {
    const execution = toExecution(executionId, amount);
    return execution && { ...about, update: { kind: 'paid', ...execution } };
  }
  // As in a status: a rejection with an execution needs manual review.
  if (typeof executionId === 'string') return null;
  return { ...about, update: { kind: 'declined', errorCode: toErrorCode(code) } };
}

/** Free text without control characters (PostgreSQL rejects NUL) and without lone surrogates. */
const freeText = (limit: number) =>
  z
    .string()
    .max(limit)
    .regex(/\S/)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u);

const resolutionSchema = z.object({
  key: z.string(),
  resolutionId: printable(100),
  participant: z.object({ nit: freeText(40), node: freeText(40), name: freeText(200).nullish() }),
  account: z.object({ number: freeText(60) }),
  person: z.object({ documentType: freeText(20), documentNumber: freeText(40), names: freeText(200) }),
});

/** Definitive rejections of a key. Timeout (5000) and "the same request is in process" (5001) are not definitive. */
const REJECTED_KEYS: ReadonlySet<string> = new Set(['0004', '0005', '0006', '4000', '4001', '5005']);

const rejectedKeySchema = z.object({ code: z.string() });

/** The answer never contains the key or text from the node, which might quote the key. */
export function resolutionAnswer(key: string, status: number, body: unknown): RailAnswer<Resolution> {
  if (status === 200) {
    const read = resolutionSchema.safeParse(body);
    if (!read.success) return unanswered('the directory response cannot be parsed');
    // The data of another holder must not be shown for this key.
    if (read.data.key !== key) return unanswered('the directory answered for another key');
    return { kind: 'yes', value: toResolution(read.data) };
  }
  const code = status === 422 ? rejectedKeySchema.safeParse(body).data?.code : undefined;
  if (code === undefined) return unanswered(`the directory answered ${status}`);
  const errorCode = ERROR_CODES.get(code);
  if (!REJECTED_KEYS.has(code) || !errorCode)
    return unanswered(`the directory answered ${toLoggableCode(code, key)}`);
  return { kind: 'no', errorCode, railCode: code, elsewhere: false };
}

function toResolution(response: z.infer<typeof resolutionSchema>): Resolution {
  const { resolutionId, participant, account, person } = response;
  return {
    resolutionId,
    name: person.names,
    documentType: person.documentType,
    documentNumber: person.documentNumber,
    bankName: participant.name ?? `${participant.node} ${participant.nit}`,
    accountNumber: account.number,
  };
}
