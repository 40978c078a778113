import { expect, it } from 'vitest';
import { BOOK_CHECKS } from '../../src/ledger/book-checks.store.ts';
import { PAYMENT_CHECKS } from '../../src/ledger/payment-checks.store.ts';
import { PAYOUT_CHECKS } from '../../src/ledger/payout-checks.store.ts';

it('every check of ledger verify has a unique name, because a session prepares one statement per name', () => {
  const names = [...BOOK_CHECKS, ...PAYMENT_CHECKS, ...PAYOUT_CHECKS].map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});
