import { z } from 'zod';
import { ENTRY_ACCOUNTS, ENTRY_TYPES } from '../../ledger/entry.view.ts';
import { timestamp } from '../fields.ts';
import { pageInfo } from '../list.ts';

const inPesos = (about: string) => z.number().describe(about);

export const balanceSchema = z
  .strictObject({
    currency: z.literal('COP'),
    available: inPesos('`availableInCents` / 100: pesos with at most two decimals.'),
    availableInCents: z.int().describe('Available for payouts.'),
    pending: inPesos('`pendingInCents` / 100.'),
    pendingInCents: z.int().describe('Collected but not settled yet: payins in `PENDING_SETTLEMENT`.'),
    held: inPesos('`heldInCents` / 100.'),
    heldInCents: z.int().describe('Held for payouts in progress.'),
    updatedAt: timestamp.describe('When the balance last changed. UTC, with milliseconds.'),
  })
  .meta({ id: 'Balance' });

const ledgerEntrySchema = z
  .strictObject({
    id: z.uuid(),
    type: z
      .enum(ENTRY_TYPES)
      .describe(
        'Reason for the entry: a payin was confirmed, pending money was settled, money was held for a payout, sent or released, a deposit was credited, or an operator made a correction.',
      ),
    debitAccount: z
      .enum(ENTRY_ACCOUNTS)
      .describe(
        'Account the money came from. `PENDING`, `AVAILABLE` and `HELD` are your accounts; the others are accounts of the service.',
      ),
    creditAccount: z.enum(ENTRY_ACCOUNTS).describe('Account the money went to.'),
    amount: inPesos('`amountInCents` / 100: pesos with at most two decimals.'),
    amountInCents: z.int(),
    currency: z.literal('COP'),
    resourceId: z
      .uuid()
      .nullable()
      .describe(
        'The payin, payout, settlement or correction it belongs to. For a `REVERSAL`, the id of the reversed entry.',
      ),
    createdAt: timestamp,
  })
  .meta({ id: 'LedgerEntry' });

export const ledgerEntryListSchema = z
  .strictObject({
    data: z.array(ledgerEntrySchema),
    pageInfo,
  })
  .meta({ id: 'LedgerEntryList' });

export const BALANCE_EXAMPLE = {
  currency: 'COP',
  available: 10_000_000,
  availableInCents: 1_000_000_000,
  pending: 49_800,
  pendingInCents: 4_980_000,
  held: 0,
  heldInCents: 0,
  updatedAt: '2026-11-14T15:04:09.012Z',
} as const;

export const LEDGER_ENTRY_EXAMPLE = {
  id: '019b2c5e-9f24-7a10-8001-5b1e7d2c9f40',
  type: 'PAYIN',
  debitAccount: 'RAIL',
  creditAccount: 'PENDING',
  amount: 49_800,
  amountInCents: 4_980_000,
  currency: 'COP',
  resourceId: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10',
  createdAt: '2026-11-14T15:04:09.012Z',
} as const;
