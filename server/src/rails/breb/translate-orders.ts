import { z } from 'zod';
import { type Cents, cents, decimalPesos } from '../../kit/money.ts';
import { printable } from '../../kit/printable.ts';
import type { OrderStatus, PayOrder, RailAnswer, RailNotice, Resolution } from '../contract.ts';
import { ERROR_CODES, ORDER_ERROR_CODES } from './rejections.ts';
import { resultsBy } from './results.ts';

/** @param payerDocument the NIT under which we pay, whoever it is for */
export function orderToPay(order: PayOrder, payerDocument: string): object {
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

const taken = z.object({
  endToEndId: z.string(),
  status: z.enum(['PROCESSING', 'DUPLICATE', 'REJECTED']),
  code: z.string().nullish(),
});

/**
 * At the door only what the node has clearly decided about this order is a no. Its own failures (5000), "duplicate in
 * process" (5001: it may be our own earlier call), time-outs (4017, 4019) and codes we have never seen are not in it:
 * the order may be under way.
 */
const REFUSED_AT_THE_DOOR: ReadonlySet<string> = new Set([
  '0004',
  '0005',
  '0006',
  '4000',
  '4001',
  '5005',
  '4007',
  '4008',
  '4010',
  '4011',
  '4012',
  '4013',
  '4014',
  '4016',
]);

export function payAnswers(
  orders: readonly PayOrder[],
  body: unknown,
): RailAnswer<'accepted' | 'duplicate'>[] {
  const byId = resultsBy(body, taken, ({ endToEndId }) => endToEndId);
  return orders.map(({ endToEndId, key }) => {
    const result = byId.get(endToEndId);
    if (!result) return { kind: 'unknown', cause: 'the node did not answer for this order' };
    if (result.status === 'PROCESSING') return { kind: 'yes', value: 'accepted' };
    if (result.status === 'DUPLICATE') return { kind: 'yes', value: 'duplicate' };
    return refusalAtTheDoor(result.code ?? '', key);
  });
}

function refusalAtTheDoor(code: string, key: string): RailAnswer<never> {
  const errorCode = ORDER_ERROR_CODES.get(code);
  if (!REFUSED_AT_THE_DOOR.has(code) || !errorCode)
    return { kind: 'unknown', cause: `the node rejected with ${codeToTell(code, key)}` };
  return { kind: 'no', errorCode, railCode: code };
}

/** A cause is logged; whatever has not the form of a code could be anything, the receiver's key too. */
function codeToTell(code: string, key: string): string {
  return /^\d{4}$/.test(code) && code !== key ? code : 'no code';
}

const orderAmount = z
  .string()
  .regex(/^\d{1,15}\.\d{2}$/)
  .nullish();

const orderStatusSchema = z.object({
  endToEndId: z.string(),
  status: z.enum(['PROCESSING', 'SETTLED', 'REJECTED', 'NOT_FOUND']),
  code: z.string().nullish(),
  executionId: printable(100).nullish(),
  amount: orderAmount,
});

type RailNotification = z.infer<typeof orderStatusSchema>;

export function orderStatusAnswers(endToEndIds: readonly string[], body: unknown): RailAnswer<OrderStatus>[] {
  const byId = resultsBy(body, orderStatusSchema, ({ endToEndId }) => endToEndId);
  return endToEndIds.map((endToEndId) => {
    const result = byId.get(endToEndId);
    if (!result) return { kind: 'unknown', cause: 'the node did not answer for this order' };
    return standingOf(result);
  });
}

const WITHOUT_MONEY = { PROCESSING: 'processing', REJECTED: 'rejected', NOT_FOUND: 'not_found' } as const;

function standingOf({
  endToEndId,
  status,
  code,
  executionId,
  amount,
}: RailNotification): RailAnswer<OrderStatus> {
  const nothing = { executionId: null, amount: null, errorCode: null };
  if (status === 'SETTLED') {
    const execution = executionOf(executionId, amount);
    // Settled without saying how much or under which execution cannot be booked.
    if (!execution) return { kind: 'unknown', cause: 'settled without its execution' };
    return { kind: 'yes', value: { ...nothing, endToEndId, state: 'settled', ...execution } };
  }
  const state = WITHOUT_MONEY[status];
  // The merchant would get the money back that an execution says went out.
  if (state !== 'processing' && typeof executionId === 'string')
    return { kind: 'unknown', cause: `${state} with an execution` };
  const errorCode = state === 'rejected' ? rejectionOf(code) : null;
  return { kind: 'yes', value: { ...nothing, endToEndId, state, errorCode } };
}

/** Null when it is no execution: nothing is no money. */
function executionOf(
  executionId: string | null | undefined,
  amount: string | null | undefined,
): { readonly executionId: string; readonly amount: Cents } | null {
  const value = BigInt((amount ?? '0').replace('.', ''));
  return typeof executionId === 'string' && value > 0n ? { executionId, amount: cents(value) } : null;
}

/** After intake every rejection is the rail's last word, whatever its code. */
function rejectionOf(code: string | null | undefined) {
  return ORDER_ERROR_CODES.get(code ?? '') ?? 'RAIL_REJECTED';
}

const notice = z.object({
  noticeId: printable(100),
  type: z.enum(['ORDER_SETTLED', 'ORDER_REJECTED']),
  endToEndId: printable(40),
  executionId: printable(100).nullish(),
  amount: orderAmount,
  code: z.string().max(20).nullish(),
});

/** Null when it cannot be read. */
export function orderNotice(message: unknown): RailNotice | null {
  const read = notice.safeParse(message);
  if (!read.success) return null;
  const { noticeId, type, endToEndId, executionId, amount, code } = read.data;
  const about = { noticeId, about: 'payout', reference: endToEndId } as const;
  if (type === 'ORDER_SETTLED') {
    const execution = executionOf(executionId, amount);
    return execution && { ...about, update: { kind: 'paid', ...execution } };
  }
  // As in a standing: a rejection with an execution is for a person to look at.
  if (typeof executionId === 'string') return null;
  return { ...about, update: { kind: 'declined', errorCode: rejectionOf(code) } };
}

/** What people wrote: no control character, for PostgreSQL would refuse a NUL, and no half of a character. */
const written = (limit: number) =>
  z
    .string()
    .max(limit)
    .regex(/\S/)
    .regex(/^[^\p{Cc}\p{Cs}]+$/u);

const resolution = z.object({
  key: z.string(),
  resolutionId: printable(100),
  participant: z.object({ nit: written(40), node: written(40), name: written(200).nullish() }),
  account: z.object({ number: written(60) }),
  person: z.object({ documentType: written(20), documentNumber: written(40), names: written(200) }),
});

/** The directory's clear word about a key. Its time-out (5000) and "the same request is in process" (5001) are none. */
const REFUSED_KEYS: ReadonlySet<string> = new Set(['0004', '0005', '0006', '4000', '4001', '5005']);

const refusedKey = z.object({ code: z.string() });

/** No answer of this function carries the key, nor any text of the node's: it might repeat the key. */
export function resolutionAnswer(key: string, status: number, body: unknown): RailAnswer<Resolution> {
  if (status === 200) {
    const read = resolution.safeParse(body);
    if (!read.success) return { kind: 'unknown', cause: 'the directory cannot be understood' };
    // Somebody else's data must not be shown under this key.
    if (read.data.key !== key) return { kind: 'unknown', cause: 'the directory answered for another key' };
    return { kind: 'yes', value: resolutionOf(read.data) };
  }
  const code = status === 422 ? refusedKey.safeParse(body).data?.code : undefined;
  if (code === undefined) return { kind: 'unknown', cause: `the directory answered ${status}` };
  const errorCode = ERROR_CODES.get(code);
  if (!REFUSED_KEYS.has(code) || !errorCode)
    return { kind: 'unknown', cause: `the directory answered ${codeToTell(code, key)}` };
  return { kind: 'no', errorCode, railCode: code };
}

function resolutionOf(notification: z.infer<typeof resolution>): Resolution {
  const { resolutionId, participant, account, person } = notification;
  return {
    resolutionId,
    name: person.names,
    documentType: person.documentType,
    documentNumber: person.documentNumber,
    bankName: participant.name ?? `${participant.node} ${participant.nit}`,
    accountNumber: account.number,
  };
}
