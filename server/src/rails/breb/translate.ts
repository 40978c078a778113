import { z } from 'zod';
import { decimalAmount } from '../../kit/decimal-amount.ts';
import { readListedPayments } from '../../kit/listed-payments.ts';
import { cents, decimalPesos } from '../../kit/money.ts';
import { printable } from '../../kit/printable.ts';
import {
  type CollectionStatus,
  type CollectOrder,
  type ListedPayment,
  type OpenedCollection,
  type Payer,
  type Payment,
  type RailAnswer,
  type RailErrorCode,
  type RailNotice,
  type RailPage,
  unanswered,
} from '../contract.ts';
import { DEFINITIVE_CODES, ERROR_CODES, PARTICIPANT_CODES } from './rejections.ts';
import { indexResults } from './results.ts';
import { orderNotice } from './translate-orders.ts';

/** Maps our document types to the node's. */
const DOCUMENT_TYPES: Readonly<Record<string, string>> = {
  CO_CC: 'CC',
  CO_CE: 'CE',
  CO_NIT: 'NIT',
  PASSPORT: 'PAS',
  MXN_RFC: 'PAS',
};

export function toRegistration(order: CollectOrder): object {
  return {
    key: order.reference,
    internalId: order.payinId,
    amount: decimalPesos(order.amount),
    currency: 'COP',
    expiresAt: order.expiresAt.toISOString(),
    payer: order.payer ? toPayer(order.payer) : null,
  };
}

function toPayer(payer: Payer): object {
  return {
    documentType: DOCUMENT_TYPES[payer.idType] ?? 'CC',
    documentNumber: payer.idNumber,
    name: payer.name,
  };
}

const registrationSchema = z.object({
  key: z.string(),
  status: z.enum(['REGISTERED', 'REJECTED']),
  code: z.string().optional(),
});

export function openedAnswers(
  orders: readonly CollectOrder[],
  body: unknown,
): RailAnswer<OpenedCollection>[] {
  const byKey = indexResults(body, registrationSchema, ({ key }) => key);
  return orders.map(({ reference }) => {
    const result = byKey.get(reference);
    if (!result) return unanswered('the node did not answer for this key');
    if (result.status === 'REGISTERED')
      return { kind: 'yes', value: { reference, pageUrl: null, transactionId: null, traceId: null } };
    return toRejection(result.code ?? '');
  });
}

/**
 * Only a definitive decision about this key is a `no`. The node's timeouts, "duplicate in process" (5001: it may be our
 * earlier call) and unknown codes are not.
 */
function toRejection(code: string): RailAnswer<never> {
  const errorCode = ERROR_CODES.get(code);
  if (!DEFINITIVE_CODES.has(code) || !errorCode) return unanswered(`the node answered ${code || 'no code'}`);
  return { kind: 'no', errorCode, railCode: code, elsewhere: PARTICIPANT_CODES.has(code) };
}

const keyStatusSchema = z.object({
  key: z.string(),
  status: z.enum(['REGISTERED', 'CLOSED', 'REJECTED', 'CANCELED', 'NOT_FOUND']),
  code: z.string().nullish(),
  payments: z.array(
    z.object({
      executionId: printable(100),
      endToEndId: printable(100).nullish(),
      // Positive: a zero amount is not a payment and cannot be posted.
      amount: z.string().regex(/^(?=.*[1-9])\d{1,15}\.\d{2}$/),
      at: z.iso.datetime().transform((at) => new Date(at)),
    }),
  ),
});

export function statusAnswers(references: readonly string[], body: unknown): RailAnswer<CollectionStatus>[] {
  const byKey = indexResults(body, keyStatusSchema, ({ key }) => key);
  return references.map((reference) => {
    const result = byKey.get(reference);
    if (!result) return unanswered('the node did not answer for this key');
    const payments = result.payments.map((payment) => ({
      executionId: payment.executionId,
      ...optionalEndToEndId(payment.endToEndId),
      amount: cents(BigInt(payment.amount.replace('.', ''))),
      at: payment.at,
    }));
    return {
      kind: 'yes',
      value: {
        reference,
        state: toState(result.status, payments.length > 0),
        payments,
        opened: null,
        errorCode: toErrorCode(result.status, result.code ?? ''),
      },
    };
  });
}

function optionalEndToEndId(endToEndId: string | null | undefined): Pick<Payment, 'endToEndId'> {
  return endToEndId ? { endToEndId } : {};
}

type KeyStatus = z.infer<typeof keyStatusSchema>['status'];

const STATES: Readonly<Record<KeyStatus, CollectionStatus['state']>> = {
  REGISTERED: 'open',
  CLOSED: 'closed',
  REJECTED: 'declined',
  CANCELED: 'declined',
  NOT_FOUND: 'not_found',
};

/** A payment takes precedence over the status of the key. */
function toState(status: KeyStatus, paid: boolean): CollectionStatus['state'] {
  return paid ? 'paid' : STATES[status];
}

/** Why the collection ended without money; null if it did not. */
function toErrorCode(status: KeyStatus, code: string): RailErrorCode | null {
  if (status === 'CANCELED') return 'PAYER_CANCELED';
  return status === 'REJECTED' ? (ERROR_CODES.get(code) ?? 'RAIL_REJECTED') : null;
}

const keyNoticeSchema = z.object({
  noticeId: printable(100),
  type: z.enum(['SETTLED', 'REJECTED', 'CANCELED']),
  key: printable(100),
  executionId: printable(100).nullable(),
  endToEndId: printable(100).nullish(),
  amount: decimalAmount.nullable(),
  code: z.string().max(20).nullable(),
});

/** @returns null when the message cannot be parsed: the caller stores it for manual review */
export function brebNotice(message: unknown): RailNotice | null {
  const read = keyNoticeSchema.safeParse(message);
  // Key and order notifications have disjoint types, so only one schema can match.
  if (!read.success) return orderNotice(message);
  const { noticeId, type, key, executionId, endToEndId, amount, code } = read.data;
  const about = { noticeId, about: 'payin', reference: key } as const;
  if (type !== 'SETTLED')
    return {
      ...about,
      update: { kind: 'declined', errorCode: toErrorCode(type, code ?? '') ?? 'RAIL_REJECTED' },
    };
  const value = BigInt((amount ?? '0').replace('.', ''));
  if (executionId === null || value <= 0n) return null;
  return {
    ...about,
    update: { kind: 'paid', executionId, ...optionalEndToEndId(endToEndId), amount: cents(value) },
  };
}

export function listedPaymentsAnswer(body: unknown): RailAnswer<RailPage<ListedPayment>> {
  const value = readListedPayments(body);
  return value ? { kind: 'yes', value } : unanswered('the list of payments cannot be parsed');
}
