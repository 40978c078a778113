import { randomBytes, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { findMagic } from '../magic-documents.ts';
import { type RailCall, toAnswerDelivery } from '../rail-call.ts';
import { currency, decimalAmount, isoTime, toCents } from '../wire.ts';
import { BANKS } from './banks.ts';
import { requireEntityCredentials } from './entity-access.ts';
import {
  bankUrl,
  type CreateCode,
  nextTrazabilityCode,
  storeTransaction,
  type Transaction,
  type TransactionStore,
} from './transaction.store.ts';

/** Network limits of 2025: the minimum payment, and ten times the Bre-B limit of 1,000 UVB. */
const MIN_AMOUNT_CENTS = toCents('1500.00');
const MAX_AMOUNT_CENTS = toCents('11552000.00') * 10n;

const createBody = z.object({
  reference: z.string().min(1).max(32),
  bankCode: z.string().min(1).max(10),
  personType: z.union([z.literal(0), z.literal(1)]),
  returnUrl: z.url({ protocol: /^https?$/ }).max(255),
  description: z.string().max(255),
  merchantName: z.string().max(200).optional(),
  amount: decimalAmount,
  currency,
  expiresAt: isoTime.optional(),
  payer: z.object({
    documentType: z.string().min(1).max(20),
    documentNumber: z.string().min(1).max(40),
    name: z.string().min(1).max(200),
    email: z.string().min(1).max(254),
    phone: z.string().min(1).max(30),
  }),
});

type CreateBody = z.infer<typeof createBody>;

export function createTransaction(publicUrl: () => string): RailCall<CreateBody> {
  return {
    rail: 'PSE',
    operation: 'create',
    schema: createBody,
    authenticate: requireEntityCredentials,
    answer: ({ state }, body, at) => {
      const { reference } = body;
      const existing = state.transactions.byReference.get(reference);
      const returnCode = existing === undefined ? validate(body) : validateRepeat(existing, body);
      if (returnCode !== 'SUCCESS') {
        return {
          body: { returnCode },
          entry: { at, kind: 'pse.create', reference, returnCode, created: null },
        };
      }
      const transaction = existing ?? create(state.transactions, body, at);
      const { transactionId, trazabilityCode, transactionCycle } = transaction;
      const url = bankUrl(publicUrl(), transaction);
      const created = existing === undefined ? transaction : null;
      return {
        body: { returnCode, transactionId, trazabilityCode, transactionCycle, bankUrl: url },
        entry: { at, kind: 'pse.create', reference, returnCode, created },
        delivery: created === null ? 'sent' : toAnswerDelivery(findMagic(created.payer)),
      };
    },
  };
}

function validate({ bankCode, amount, payer }: CreateBody): CreateCode {
  if (!BANKS.has(bankCode)) return 'FAIL_BANKNOTEXISTSORDISABLED';
  if (toCents(amount) < MIN_AMOUNT_CENTS) return 'FAIL_INVALIDAMOUNT';
  if (toCents(amount) > MAX_AMOUNT_CENTS) return 'FAIL_EXCEEDEDLIMIT';
  if (findMagic(payer)?.ends === 'refused') return 'FAIL_BANKUNREACHEABLE';
  return 'SUCCESS';
}

function validateRepeat(existing: Transaction, { amount, bankCode }: CreateBody): CreateCode {
  const same = toCents(existing.amount) === toCents(amount) && existing.bankCode === bankCode;
  return same ? 'SUCCESS' : 'FAIL_TRANSACTIONNOTALLOWED';
}

function create(store: TransactionStore, body: CreateBody, at: string): Transaction {
  const transaction: Transaction = {
    ...body,
    transactionId: randomUUID(),
    trazabilityCode: nextTrazabilityCode(store),
    transactionCycle: '1',
    secret: randomBytes(16).toString('base64url'),
    merchantName: body.merchantName ?? null,
    expiresAt: body.expiresAt ?? null,
    createdAt: at,
    openedAt: null,
    approvesAt: null,
    state: 'PENDING',
    reason: null,
  };
  storeTransaction(store, transaction);
  return transaction;
}
