import { writeFailure } from '../../db/failures.ts';
import type { TransactionName } from '../../db/transactions.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { ApiError } from '../../kit/errors.ts';

/**
 * One merchant's change in a transaction of its own. A refusal is returned by the work and thrown after the commit: it is
 * a promise too, and must outlive a failover.
 * @throws Fault what the work refused with, `outcome_unknown`, `service_unavailable`
 */
export async function writeForMerchant<T>(
  deps: Pick<Deps, 'batch'>,
  name: TransactionName,
  organizationId: string,
  work: (tx: Tx) => Promise<T | ApiError>,
): Promise<T> {
  const answer = await deps.batch
    .write(name, new Set([organizationId]), work)
    .catch((error: unknown) => Promise.reject(writeFailure(error)));
  if (answer instanceof ApiError) throw answer;
  return answer;
}
