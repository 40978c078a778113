import { type Authorization, insertAuthorization } from '../customers/authorization.store.ts';
import { sealCustomer } from '../customers/customer.seal.ts';
import type { Customer } from '../customers/customer.ts';
import { writeFailure } from '../db/failures.ts';
import type { Deps } from '../deps.ts';
import { freshToken } from '../kit/ids.ts';
import type { Shop } from '../organizations/shops.ts';
import { payinOf } from '../payins/payin.store.ts';
import type { Payin } from '../payins/payin.ts';
import { givePayer } from '../payins/payin-page.store.ts';
import type { Collecting } from './begin-collecting.ts';

/**
 * The payer's details of a PSE payin that its merchant created without: kept with the authorization in one transaction, then
 * the bank's page is asked for.
 * @returns null when it has its payer already, has ended, or its time is over
 * @throws Fault `outcome_unknown`, `service_unavailable`
 */
export async function takePayer(
  deps: Deps,
  collecting: Collecting,
  { organization, secrets }: Shop,
  payinId: string,
  customer: Customer,
  authorization: Authorization,
): Promise<Payin | null> {
  const payin = { organizationId: organization.id, id: payinId };
  const sealed = sealCustomer(secrets.dataKey, customer, { table: 'payins', ...payin });
  if (!sealed) throw new Error('a customer was sealed to nothing');
  const claimToken = freshToken();
  const row = await deps.batch
    .write('take payer', new Set([organization.id]), async (tx) => {
      const taken = await givePayer(tx, payin, sealed, claimToken);
      if (taken) await insertAuthorization(tx, secrets.dataKey, payin, authorization);
      return taken;
    })
    .catch((error: unknown) => Promise.reject(writeFailure(error)));
  if (!row) return null;
  return collecting.begin({ payin: payinOf(row, secrets.dataKey), organization, secrets, claimToken });
}
