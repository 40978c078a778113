import type { Operation } from '../operation.ts';
import { createPayin } from './create-payin.route.ts';
import { getBalance } from './get-balance.route.ts';
import { getPayin } from './get-payin.route.ts';
import { issueAccessToken } from './issue-token.route.ts';
import { listBanks } from './list-banks.route.ts';
import { listLedgerEntries } from './list-ledger-entries.route.ts';
import { listPayins } from './list-payins.route.ts';

/** Every operation of the API. The router, OpenAPI and the docs are made from this list. */
export const OPERATIONS: readonly Operation[] = [
  issueAccessToken,
  createPayin,
  listPayins,
  getPayin,
  getBalance,
  listLedgerEntries,
  listBanks,
];
