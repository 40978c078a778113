import { toWriteError } from '../../db/failures.ts';
import type { TransactionName } from '../../db/transactions.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { ApiError } from '../../kit/errors.ts';

/**
 * Runs a merchant's write in its own transaction. The work returns a rejection instead of throwing it, so that it is thrown
 * after the commit: a rejection must survive a failover too.
 * @throws ApiError the rejection returned by `work`, `outcome_unknown`, `service_unavailable`
 */
export async function writeForMerchant<T>(
  deps: Pick<Deps, 'batch'>,
  name: TransactionName,
  organizationId: string,
  work: (tx: Tx) => Promise<T | ApiError>,
): Promise<T> {
  const answer = await deps.batch
    .write(name, new Set([organizationId]), work)
    .catch((error: unknown) => Promise.reject(toWriteError(error)));
  if (answer instanceof ApiError) throw answer;
  return answer;
}
