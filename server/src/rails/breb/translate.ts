import { z } from 'zod';
import { cents, decimalPesos } from '../../kit/money.ts';
import type { CollectOrder, Opened, Payer, RailAnswer, RailErrorCode, Standing } from '../contract.ts';

/** The node's document types for ours. */
const DOCUMENT_TYPES: Readonly<Record<string, string>> = {
  CO_CC: 'CC',
  CO_CE: 'CE',
  CO_NIT: 'NIT',
  PASSPORT: 'PAS',
  MXN_RFC: 'PAS',
};

/** Rejections of the directory and of settlement (rails.md) as the merchant sees them. */
const ERROR_CODES: ReadonlyMap<string, RailErrorCode> = new Map(
  Object.entries({
    '0004': 'KEY_NOT_FOUND',
    '0005': 'KEY_SUSPENDED',
    '0006': 'KEY_SUSPENDED',
    '4000': 'KEY_INVALID',
    '4001': 'KEY_INVALID',
    '5005': 'KEY_INVALID',
    '4007': 'INVALID_DATA',
    '4008': 'INVALID_DATA',
    '4010': 'ACCOUNT_NOT_FOUND',
    '4011': 'SUSPECTED_FRAUD',
    '4012': 'LIMIT_EXCEEDED',
    '4013': 'NETWORK_LIMIT_EXCEEDED',
    '4014': 'LIMIT_EXCEEDED',
    '4016': 'RAIL_REJECTED',
    '4017': 'RAIL_TIMEOUT',
    '4019': 'RAIL_TIMEOUT',
  }),
);

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
  results: z.array(
    z.object({ key: z.string(), status: z.enum(['REGISTERED', 'REJECTED']), code: z.string().optional() }),
  ),
});

export function openedAnswers(orders: readonly CollectOrder[], body: unknown): RailAnswer<Opened>[] {
  const { results } = registered.parse(body);
  const byKey = new Map(results.map((result) => [result.key, result]));
  return orders.map(({ reference }) => {
    const result = byKey.get(reference);
    if (!result) return { kind: 'unknown', cause: 'the node did not answer for this key' };
    if (result.status === 'REGISTERED')
      return { kind: 'yes', value: { reference, pageUrl: null, transactionId: null, traceId: null } };
    return refusal(result.code ?? '');
  });
}

/**
 * A code that we do not know is still a no: the node said it rejected. Its own time-outs (5000) are not, nor is
 * "duplicate in process" (5001): that may be our own earlier call, still under way.
 */
function refusal(code: string): RailAnswer<never> {
  if (code === '5000' || code === '5001') return { kind: 'unknown', cause: `the node answered ${code}` };
  return { kind: 'no', errorCode: ERROR_CODES.get(code) ?? 'RAIL_REJECTED', railCode: code };
}

const standing = z.object({
  results: z.array(
    z.object({
      key: z.string(),
      status: z.enum(['REGISTERED', 'CLOSED', 'NOT_FOUND']),
      payments: z.array(
        z.object({
          executionId: z.string(),
          amount: z.string().regex(/^\d+\.\d{2}$/),
          at: z.iso.datetime().transform((at) => new Date(at)),
        }),
      ),
    }),
  ),
});

export function standingAnswers(references: readonly string[], body: unknown): RailAnswer<Standing>[] {
  const { results } = standing.parse(body);
  const byKey = new Map(results.map((result) => [result.key, result]));
  return references.map((reference) => {
    const result = byKey.get(reference);
    if (!result) return { kind: 'unknown', cause: 'the node did not answer for this key' };
    const payments = result.payments.map((payment) => ({
      executionId: payment.executionId,
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
        errorCode: null,
      },
    };
  });
}

function stateOf(status: 'REGISTERED' | 'CLOSED' | 'NOT_FOUND', paid: boolean): Standing['state'] {
  if (paid) return 'paid';
  return status === 'REGISTERED' ? 'open' : status === 'CLOSED' ? 'closed' : 'not_found';
}
