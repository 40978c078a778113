import type { SystemDb } from '../../db/system.ts';
import type { Deps } from '../../deps.ts';
import type { Shops } from '../../organizations/shops.ts';
import { findReceiptPayin } from '../../receipts/receipt.store.ts';
import { loadReceipt } from '../payment-links/load-checkout.ts';
import { issueReceipt, type Receipt } from './issue-receipt.ts';

/** Finds receipts of any organization by their code. */
export class ReceiptFinder {
  readonly #deps: Deps;
  readonly #db: SystemDb;
  readonly #shops: Shops;

  constructor(deps: Deps, db: SystemDb, shops: Shops) {
    this.#deps = deps;
    this.#db = db;
    this.#shops = shops;
  }

  /** @returns null if no receipt has this code */
  async find(code: string): Promise<Receipt | null> {
    const subject = await findReceiptPayin(this.#db, code);
    if (!subject) return null;
    const token = this.#deps.receiptTokens.make(subject, this.#deps.cell);
    const state = await loadReceipt(this.#deps, this.#shops, token);
    return state && issueReceipt(this.#deps, state);
  }
}
