import { type Authorization, insertAuthorization } from '../../customers/authorization.store.ts';
import { sealCustomer } from '../../customers/customer.seal.ts';
import type { Customer } from '../../customers/customer.ts';
import { writeFailure } from '../../db/failures.ts';
import type { Deps } from '../../deps.ts';
import { freshToken } from '../../kit/ids.ts';
import type { Shop } from '../../organizations/shops.ts';
import { payinOf } from '../../payins/payin.store.ts';
import type { Payin } from '../../payins/payin.ts';
import { insertPayer } from '../../payins/payin-page.store.ts';
import type { CollectionStarter } from '../payins/start-collection.ts';

/**
 * The payer's details of a PSE payin that its merchant created without: kept with the authorization in one transaction, then
 * the bank's page is asked for.
 * @returns null when it has its payer already, has ended, or its time is over
 * @throws Fault `outcome_unknown`, `service_unavailable`
 */
export async function attachPayer(
  deps: Deps,
  collections: CollectionStarter,
  { organization, secrets }: Shop,
  payinId: string,
  customer: Customer,
  authorization: Authorization,
): Promise<Payin | null> {
  const payin = { organizationId: organization.id, id: payinId };
  const sealed = sealCustomer(secrets.dataKey, customer, { table: 'payins', ...payin });
  if (!sealed) throw new Error('a customer was sealed to nothing');
  const leaseToken = freshToken();
  const row = await deps.batch
    .write('attach payer', new Set([organization.id]), async (tx) => {
      const taken = await insertPayer(tx, payin, sealed, leaseToken);
      if (taken) await insertAuthorization(tx, secrets.dataKey, payin, authorization);
      return taken;
    })
    .catch((error: unknown) => Promise.reject(writeFailure(error)));
  if (!row) return null;
  return collections.begin({ payin: payinOf(row, secrets.dataKey), organization, secrets, leaseToken });
}
