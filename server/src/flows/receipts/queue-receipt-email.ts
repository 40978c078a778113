import { encryptValue } from '../../db/columns.ts';
import { toWriteError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { Shop } from '../../organizations/shops.ts';
import { queueEmail } from '../../receipts/receipt-email.store.ts';

/**
 * Queues a receipt for the e-mail address that its payer typed. A worker sends it, so that a slow SMTP server delays no
 * page. The address is stored encrypted, and only until it is used.
 * @returns false if the receipt was sent too often today
 * @throws ApiError `outcome_unknown`, `service_unavailable`
 */
export async function queueReceiptEmail(
  { batch, signals, clock, cell }: Pick<Deps, 'batch' | 'signals' | 'clock' | 'cell'>,
  { organization, secrets }: Shop,
  payinId: string,
  address: string,
  language: 'es' | 'en',
): Promise<boolean> {
  const rowId = { organizationId: organization.id, id: uuidv7(clock.now(), cell) };
  const encryptedAddress = encryptValue('receipt_emails', 'address', rowId, address, secrets.dataKey);
  const queued = await batch
    .write('queue receipt email', new Set([organization.id]), (tx) =>
      queueEmail(tx, { ...rowId, payinId, encryptedAddress, language }),
    )
    .catch((error: unknown) => Promise.reject(toWriteError(error)));
  if (queued) signals.raise('receipt_emails');
  return queued;
}
