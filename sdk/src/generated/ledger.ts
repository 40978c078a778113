// Made by `npm run generate`.

import type { CallOptions } from '../call-options.ts';
import type { Calls } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListLedgerEntriesQuery } from './queries.ts';
import type { LedgerEntry } from './schemas.ts';

/** Ledger entries of your balance. */
export class LedgerOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * List ledger entries: `GET /ledger/entries`. Needs the scope `balance:read`.
   *
   * All movements of your money, newest first. Each entry moves an amount from one account (debit) to another (credit). Entries never change; a correction is a new entry. Follow `nextCursor` to older entries and `previousCursor` to newer ones, with the same filters.
   *
   * @throws ApiError, with the specific codes `cursor_invalid`
   */
  listEntries(query: ListLedgerEntriesQuery = {}, options: CallOptions = {}): List<LedgerEntry> {
    return this.#calls.list('listLedgerEntries', { query }, options);
  }
}
