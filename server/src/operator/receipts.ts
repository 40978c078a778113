import { readConfig } from '../config.ts';
import { ReceiptKeys } from '../receipts/receipt-keys.ts';
import type { Output } from './options.ts';

/** Lists the receipt keys of the settings. Works without a database. */
export function receiptsKeys(): Promise<Output> {
  const { published } = new ReceiptKeys(
    readConfig('operator', undefined, ['CAUDAL_RECEIPT_KEY']).receiptKeys,
  );
  const lines = published.keys.map(({ kid, status, x, validUntil }) =>
    [kid, status.padEnd(7), x, ...(validUntil === null ? [] : [`until ${validUntil}`])].join('  '),
  );
  const unlisted = published.revoked.filter((id) => published.keys.every(({ kid }) => kid !== id));
  return Promise.resolve({
    json: published,
    text: [...lines, ...unlisted.map((id) => `${id}  revoked`)].join('\n'),
  });
}
