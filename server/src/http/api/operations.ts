import type { Operation } from '../operation.ts';
import { cancelPayout } from './cancel-payout.route.ts';
import { createPayin } from './create-payin.route.ts';
import { createPayout } from './create-payout.route.ts';
import { getBalance } from './get-balance.route.ts';
import { getPayin } from './get-payin.route.ts';
import { getPayout } from './get-payout.route.ts';
import { issueAccessToken } from './issue-token.route.ts';
import { listBanks } from './list-banks.route.ts';
import { listLedgerEntries } from './list-ledger-entries.route.ts';
import { listPayins } from './list-payins.route.ts';
import { listPayouts } from './list-payouts.route.ts';
import { lookUpKey } from './look-up-key.route.ts';

/** Every operation of the API. The router, OpenAPI and the docs are made from this list. */
export const OPERATIONS: readonly Operation[] = [
  issueAccessToken,
  createPayin,
  listPayins,
  getPayin,
  lookUpKey,
  createPayout,
  listPayouts,
  getPayout,
  cancelPayout,
  getBalance,
  listLedgerEntries,
  listBanks,
];
