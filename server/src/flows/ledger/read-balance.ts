import type { Deps } from '../../deps.ts';
import { type Balances, readBalances } from '../../ledger/balance.store.ts';
import type { Principal } from '../../organizations/organization.ts';

export function readBalance(deps: Pick<Deps, 'read'>, principal: Principal): Promise<Balances> {
  const organizationId = principal.organization.id;
  return deps.read.read(organizationId, (tx) => readBalances(tx, organizationId));
}
