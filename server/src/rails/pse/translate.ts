import { z } from 'zod';
import { decimalAmount } from '../../kit/decimal-amount.ts';
import { cents, decimalPesos } from '../../kit/money.ts';
import { printable } from '../../kit/printable.ts';
import {
  type CollectionStatus,
  type CollectOrder,
  type OpenedCollection,
  type RailAnswer,
  type RailErrorCode,
  type RailNotice,
  unanswered,
} from '../contract.ts';
import { BANK_BY_CODE } from './banks.ts';

const DOCUMENT_TYPES: Readonly<Record<string, string>> = {
  CO_CC: 'CC',
  CO_CE: 'CE',
  CO_NIT: 'NIT',
  PASSPORT: 'PA',
  MXN_RFC: 'DE',
};

/** Rejection codes of "create transaction". Codes of transient failures are not listed: their outcome is unknown. */
const CREATE_CODES: ReadonlyMap<string, RailErrorCode> = new Map(
  Object.entries({
    FAIL_ENTITYNOTEXISTSORDISABLED: 'RAIL_REJECTED',
    FAIL_BANKNOTEXISTSORDISABLED: 'BANK_UNAVAILABLE',
    FAIL_SERVICENOTEXISTS: 'RAIL_REJECTED',
    FAIL_INVALIDAMOUNT: 'LIMIT_EXCEEDED',
    FAIL_BANKUNREACHEABLE: 'BANK_UNAVAILABLE',
    FAIL_NOTCONFIRMEDBYBANK: 'BANK_UNAVAILABLE',
    FAIL_EXCEEDEDLIMIT: 'LIMIT_EXCEEDED',
    FAIL_TRANSACTIONNOTALLOWED: 'RAIL_REJECTED',
    FAIL_RISK: 'SUSPECTED_FRAUD',
    FAIL_NOHOST: 'BANK_UNAVAILABLE',
    FAIL_NOTALLOWEDBYTIME: 'BANK_UNAVAILABLE',
  }),
);

/** Rejections of the payment by the bank or as a risk; the others are about our entity or its connection to the bank. */
const PAYMENT_CODES: ReadonlySet<string> = new Set(['FAIL_NOTCONFIRMEDBYBANK', 'FAIL_RISK']);

/** Decline reasons of a transaction. */
const DECLINE_REASONS: ReadonlyMap<string, RailErrorCode> = new Map(
  Object.entries({
    '1': 'PAYER_CANCELED',
    '2': 'ACCOUNT_BLOCKED',
    '3': 'ACCOUNT_BLOCKED',
    '4': 'ACCOUNT_NOT_FOUND',
    '5': 'ACCOUNT_BLOCKED',
    '6': 'ACCOUNT_NOT_FOUND',
    '7': 'ACCOUNT_CLOSED',
    '8': 'LIMIT_EXCEEDED',
    '9': 'BANK_UNAVAILABLE',
    '10': 'RAIL_REJECTED',
    '11': 'INSUFFICIENT_FUNDS',
    '12': 'INVALID_DATA',
    '13': 'ACCOUNT_CLOSED',
    '14': 'PAYER_ABANDONED',
    '15': 'PAYER_ABANDONED',
    '16': 'INVALID_DATA',
    '17': 'RAIL_REJECTED',
  }),
);

export function toTransaction(order: CollectOrder): object {
  if (!order.bank || !order.payer) throw new Error('a PSE order requires a bank and a payer');
  return {
    reference: order.reference,
    bankCode: BANK_BY_CODE.get(order.bank.code)?.networkCode ?? '',
    personType: order.bank.business ? 1 : 0,
    returnUrl: order.bank.returnUrl,
    description: order.description,
    amount: decimalPesos(order.amount),
    currency: 'COP',
    expiresAt: order.expiresAt.toISOString(),
    payer: {
      documentType: DOCUMENT_TYPES[order.payer.idType] ?? 'CC',
      documentNumber: order.payer.idNumber,
      name: order.payer.name,
      email: order.payer.email,
      phone: order.payer.phone,
    },
  };
}

/** The payer's browser is redirected to it, so only http and https are allowed. */
const bankUrl = z.url({ protocol: /^https?$/ });

const creationSchema = z.union([
  z.object({
    returnCode: z.literal('SUCCESS'),
    transactionId: z.string().min(1),
    trazabilityCode: z.string().min(1),
    bankUrl,
  }),
  z.object({ returnCode: z.string().regex(/^FAIL_/) }),
]);

/** Over plain http, the payer's session with the bank could be read and redirected. */
function isSafePage(url: string, allowsHttp: boolean): boolean {
  return allowsHttp || new URL(url).protocol === 'https:';
}

/** @param allowsHttp whether the bank page may be plain http */
export function openedAnswer(
  order: CollectOrder,
  body: unknown,
  allowsHttp: boolean,
): RailAnswer<OpenedCollection> {
  const answer = creationSchema.parse(body);
  if ('transactionId' in answer) {
    const { transactionId, trazabilityCode, bankUrl } = answer;
    if (!isSafePage(bankUrl, allowsHttp)) return unanswered('the bank page is not https');
    return {
      kind: 'yes',
      value: { reference: order.reference, pageUrl: bankUrl, transactionId, traceId: trazabilityCode },
    };
  }
  const errorCode = CREATE_CODES.get(answer.returnCode);
  // FAIL_TIMEOUT, FAIL_CANNOTGETCURRENTCYCLE, FAIL_ACCESSDENIED and unknown codes are not definitive.
  if (!errorCode) return unanswered(answer.returnCode);
  const elsewhere = !PAYMENT_CODES.has(answer.returnCode);
  return { kind: 'no', errorCode, railCode: answer.returnCode, elsewhere };
}

const responseSchema = z.object({ results: z.array(z.unknown()) });

const transactionSchema = z.object({
  reference: z.string(),
  state: z.enum(['PENDING', 'OK', 'NOT_AUTHORIZED', 'FAILED', 'NOT_FOUND']),
  transactionId: printable(100).nullable(),
  trazabilityCode: z.string().nullable(),
  bankUrl: bankUrl.nullable(),
  amount: decimalAmount.nullable(),
  reason: z.union([z.string(), z.number()]).nullable(),
});

type TransactionInformation = z.infer<typeof transactionSchema>;

const STATES: Readonly<Record<TransactionInformation['state'], CollectionStatus['state']>> = {
  PENDING: 'open',
  OK: 'paid',
  NOT_AUTHORIZED: 'declined',
  FAILED: 'declined',
  NOT_FOUND: 'not_found',
};

export function statusAnswers(
  references: readonly string[],
  body: unknown,
  allowsHttp: boolean,
): RailAnswer<CollectionStatus>[] {
  // Parses each result separately, so that an invalid one does not affect the others.
  const byReference = new Map(
    responseSchema.parse(body).results.flatMap((each) => {
      const result = transactionSchema.safeParse(each);
      return result.success ? [[result.data.reference, result.data] as const] : [];
    }),
  );
  return references.map((reference) => {
    const result = byReference.get(reference);
    if (!result) return unanswered('PSE did not answer for this reference');
    // The status is still valid: a payment at the bank must be recorded.
    const isSafe = result.bankUrl === null || isSafePage(result.bankUrl, allowsHttp);
    return toCollectionStatus(isSafe ? result : { ...result, bankUrl: null });
  });
}

function toCollectionStatus(result: TransactionInformation): RailAnswer<CollectionStatus> {
  const { reference, transactionId, trazabilityCode, bankUrl, amount } = result;
  const state = STATES[result.state];
  // Without an amount and a transaction id, the payment cannot be posted.
  if (state === 'paid' && (transactionId === null || amount === null || /^[0.]+$/.test(amount)))
    return unanswered('paid without amount');
  const payment =
    state === 'paid' && transactionId !== null && amount !== null
      ? [{ executionId: transactionId, amount: cents(BigInt(amount.replace('.', ''))), at: null }]
      : [];
  return {
    kind: 'yes',
    value: {
      reference,
      state,
      payments: payment,
      opened:
        transactionId === null
          ? null
          : { reference, pageUrl: bankUrl, transactionId, traceId: trazabilityCode },
      errorCode: state === 'declined' ? toErrorCode(result.reason) : null,
    },
  };
}

const noticeSchema = z.object({
  noticeId: printable(100),
  reference: printable(32),
  transactionId: printable(100),
  state: z.enum(['OK', 'NOT_AUTHORIZED', 'FAILED']),
  amount: decimalAmount,
  reason: z.union([z.string().max(20), z.number()]).nullable(),
});

/** @returns null when the message cannot be parsed: the caller stores it for manual review */
export function pseNotice(message: unknown): RailNotice | null {
  const read = noticeSchema.safeParse(message);
  if (!read.success) return null;
  const { noticeId, reference, transactionId, state, amount, reason } = read.data;
  const about = { noticeId, about: 'payin', reference } as const;
  if (state !== 'OK') return { ...about, update: { kind: 'declined', errorCode: toErrorCode(reason) } };
  const value = BigInt(amount.replace('.', ''));
  return value > 0n
    ? { ...about, update: { kind: 'paid', executionId: transactionId, amount: cents(value) } }
    : null;
}

function toErrorCode(reason: string | number | null): RailErrorCode {
  return DECLINE_REASONS.get(String(reason)) ?? 'RAIL_REJECTED';
}
