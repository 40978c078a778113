import { z } from 'zod';
import { cents, decimalPesos } from '../../kit/money.ts';
import { printable } from '../../kit/printable.ts';
import type {
  CollectionStatus,
  CollectOrder,
  Opened,
  Payer,
  Payment,
  RailAnswer,
  RailErrorCode,
  RailNotice,
} from '../contract.ts';
import { ERROR_CODES } from './rejections.ts';
import { resultsBy } from './results.ts';
import { orderNotice } from './translate-orders.ts';

/** The node's document types for ours. */
const DOCUMENT_TYPES: Readonly<Record<string, string>> = {
  CO_CC: 'CC',
  CO_CE: 'CE',
  CO_NIT: 'NIT',
  PASSPORT: 'PAS',
  MXN_RFC: 'PAS',
};

export function registration(order: CollectOrder): object {
  return {
    key: order.reference,
    internalId: order.payinId,
    amount: decimalPesos(order.amount),
    currency: 'COP',
    expiresAt: order.expiresAt.toISOString(),
    payer: order.payer ? payerOf(order.payer) : null,
  };
}

function payerOf(payer: Payer): object {
  return {
    documentType: DOCUMENT_TYPES[payer.idType] ?? 'CC',
    documentNumber: payer.idNumber,
    name: payer.name,
  };
}

const registered = z.object({
  key: z.string(),
  status: z.enum(['REGISTERED', 'REJECTED']),
  code: z.string().optional(),
});

export function openedAnswers(orders: readonly CollectOrder[], body: unknown): RailAnswer<Opened>[] {
  const byKey = resultsBy(body, registered, ({ key }) => key);
  return orders.map(({ reference }) => {
    const result = byKey.get(reference);
    if (!result) return { kind: 'unknown', cause: 'the node did not answer for this key' };
    if (result.status === 'REGISTERED')
      return { kind: 'yes', value: { reference, pageUrl: null, transactionId: null, traceId: null } };
    return refusal(result.code ?? '');
  });
}

/**
 * Only what the node has clearly decided about this key is a no. Its own time-outs, "duplicate in process" (5001: it may
 * be our own earlier call) and codes we have never seen say nothing about it.
 */
const REFUSALS: ReadonlySet<string> = new Set([
  '0004',
  '0005',
  '0006',
  '4000',
  '4001',
  '5005',
  '4011',
  '4012',
  '4013',
  '4014',
  '4016',
]);

function refusal(code: string): RailAnswer<never> {
  const errorCode = ERROR_CODES.get(code);
  if (!REFUSALS.has(code) || !errorCode)
    return { kind: 'unknown', cause: `the node answered ${code || 'no code'}` };
  return { kind: 'no', errorCode, railCode: code };
}

const standing = z.object({
  key: z.string(),
  status: z.enum(['REGISTERED', 'CLOSED', 'REJECTED', 'CANCELED', 'NOT_FOUND']),
  code: z.string().nullish(),
  payments: z.array(
    z.object({
      executionId: printable(100),
      endToEndId: printable(100).nullish(),
      // More than nothing: nothing is no payment, and cannot be booked.
      amount: z.string().regex(/^(?=.*[1-9])\d{1,15}\.\d{2}$/),
      at: z.iso.datetime().transform((at) => new Date(at)),
    }),
  ),
});

export function statusAnswers(references: readonly string[], body: unknown): RailAnswer<CollectionStatus>[] {
  const byKey = resultsBy(body, standing, ({ key }) => key);
  return references.map((reference) => {
    const result = byKey.get(reference);
    if (!result) return { kind: 'unknown', cause: 'the node did not answer for this key' };
    const payments = result.payments.map((payment) => ({
      executionId: payment.executionId,
      ...traced(payment.endToEndId),
      amount: cents(BigInt(payment.amount.replace('.', ''))),
      at: payment.at,
    }));
    return {
      kind: 'yes',
      value: {
        reference,
        state: stateOf(result.status, payments.length > 0),
        payments,
        opened: null,
        errorCode: endCode(result.status, result.code ?? ''),
      },
    };
  });
}

function traced(endToEndId: string | null | undefined): Pick<Payment, 'endToEndId'> {
  return endToEndId ? { endToEndId } : {};
}

type KeyStatus = z.infer<typeof standing>['status'];

const STATES: Readonly<Record<KeyStatus, CollectionStatus['state']>> = {
  REGISTERED: 'open',
  CLOSED: 'closed',
  REJECTED: 'declined',
  CANCELED: 'declined',
  NOT_FOUND: 'not_found',
};

/** Money decides, whatever else the node says of the key. */
function stateOf(status: KeyStatus, paid: boolean): CollectionStatus['state'] {
  return paid ? 'paid' : STATES[status];
}

/** Why a payer's payment ended without money; null while it has not. */
function endCode(status: KeyStatus, code: string): RailErrorCode | null {
  if (status === 'CANCELED') return 'PAYER_CANCELED';
  return status === 'REJECTED' ? (ERROR_CODES.get(code) ?? 'RAIL_REJECTED') : null;
}

const keyNotice = z.object({
  noticeId: printable(100),
  type: z.enum(['SETTLED', 'REJECTED', 'CANCELED']),
  key: printable(100),
  executionId: printable(100).nullable(),
  endToEndId: printable(100).nullish(),
  amount: z
    .string()
    .regex(/^\d{1,15}\.\d{2}$/)
    .nullable(),
  code: z.string().max(20).nullable(),
});

/** Null when it cannot be read: it is kept, and a person looks at it. */
export function brebNotice(message: unknown): RailNotice | null {
  const read = keyNotice.safeParse(message);
  // The types of the two are apart, so what one can read the other cannot.
  if (!read.success) return orderNotice(message);
  const { noticeId, type, key, executionId, endToEndId, amount, code } = read.data;
  const about = { noticeId, about: 'payin', reference: key } as const;
  if (type !== 'SETTLED')
    return {
      ...about,
      update: { kind: 'declined', errorCode: endCode(type, code ?? '') ?? 'RAIL_REJECTED' },
    };
  const value = BigInt((amount ?? '0').replace('.', ''));
  if (executionId === null || value <= 0n) return null;
  return { ...about, update: { kind: 'paid', executionId, ...traced(endToEndId), amount: cents(value) } };
}
