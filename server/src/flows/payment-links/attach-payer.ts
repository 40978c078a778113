import { type Authorization, insertAuthorization } from '../../customers/authorization.store.ts';
import type { Customer } from '../../customers/customer.ts';
import { customerIndex } from '../../customers/customer-index.ts';
import { encryptValue } from '../../db/columns.ts';
import { toWriteError } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import type { Shop } from '../../organizations/shops.ts';
import { payinFromRow } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { insertPayer } from '../../payins/payin-page.store.ts';
import type { CollectionStarter } from '../payins/start-collection.ts';

/**
 * Attaches the payer's details to a PSE payin that the merchant created without them. One transaction stores the details
 * and the data authorization; then the bank page is requested from the rail.
 * @returns null if the payin already has a payer, has ended, or has expired
 * @throws ApiError `outcome_unknown`, `service_unavailable`
 */
export async function attachPayer(
  deps: Deps,
  collectionStarter: CollectionStarter,
  { organization, secrets }: Shop,
  payinId: string,
  customer: Customer,
  authorization: Authorization,
): Promise<Payin | null> {
  const payin = { organizationId: organization.id, id: payinId };
  const payer = {
    encryptedCustomer: encryptValue('payins', 'customer', payin, customer, secrets.dataKey),
    customerIndex: customerIndex(secrets.hashKey, customer),
  };
  const leaseToken = newLeaseToken();
  const row = await deps.batch
    .write('attach payer', new Set([organization.id]), async (tx) => {
      const updated = await insertPayer(tx, payin, payer, leaseToken);
      if (updated) await insertAuthorization(tx, secrets.dataKey, payin, authorization);
      return updated;
    })
    .catch((error: unknown) => Promise.reject(toWriteError(error)));
  if (!row) return null;
  return collectionStarter.start({
    payin: payinFromRow(row, secrets.dataKey),
    organization,
    secrets,
    leaseToken,
  });
}
