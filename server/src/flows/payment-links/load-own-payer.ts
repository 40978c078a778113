import type { Customer } from '../../customers/customer.ts';
import type { Deps } from '../../deps.ts';
import type { Shop } from '../../organizations/shops.ts';
import { payinFromRow } from '../../payins/payin.store.ts';
import type { PayinMethod } from '../../payins/payin.ts';
import { findPagePayin } from '../../payins/payin-page.store.ts';

/** The details that a payer entered in an earlier attempt, and the bank of that attempt. */
export interface OwnPayer {
  readonly customer: Customer;
  readonly method: Extract<PayinMethod, { rail: 'PSE' }>;
}

/**
 * Loads the details that this browser's payer entered last for a link, so that a retry does not ask for them again.
 * @param payinIds the attempts that this browser started, newest first
 */
export async function loadOwnPayer(
  deps: Pick<Deps, 'read'>,
  { organization, secrets }: Shop,
  linkId: string,
  payinIds: readonly string[],
): Promise<OwnPayer | null> {
  if (payinIds.length === 0) return null;
  return deps.read.read(organization.id, async (tx) => {
    for (const id of payinIds) {
      const row = await findPagePayin(tx, organization.id, id);
      if (row?.payment_link_id !== linkId) continue;
      const { customer, source } = payinFromRow(row, secrets.dataKey);
      if (customer && source.rail === 'PSE') return { customer, method: source };
    }
    return null;
  });
}
