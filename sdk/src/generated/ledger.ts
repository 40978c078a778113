// Made by `npm run generate`.

import type { CallOptions, Calls } from '../calls.ts';
import type { List } from '../list.ts';
import type { ListLedgerEntriesQuery } from './queries.ts';
import type { LedgerEntry } from './schemas.ts';

/** Every movement of your money. */
export class LedgerOperations {
  readonly #calls: Calls;

  constructor(calls: Calls) {
    this.#calls = calls;
  }

  /**
   * List ledger entries: `GET /ledger/entries`. Needs the scope `balance:read`.
   *
   * Every movement of your money, newest first: each takes an amount from one account (debit) to another (credit). Entries never change; what was wrong is put right by another. Follow `nextCursor` to older entries and `previousCursor` to newer ones, with the same filters.
   *
   * @throws ApiError, of its own with the codes `cursor_invalid`
   */
  listEntries(query: ListLedgerEntriesQuery = {}, options: CallOptions = {}): List<LedgerEntry> {
    return this.#calls.list('listLedgerEntries', { query }, options);
  }
}
