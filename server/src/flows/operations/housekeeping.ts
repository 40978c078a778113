import { makeMonths } from '../../db/months.ts';
import type { SystemDeps } from '../../deps.ts';
import { purgeIdempotencyKeys } from '../../idempotency/idempotency.store.ts';
import { purgeAccessTokens, purgeCredentialChanges } from '../../organizations/credential.store.ts';
import { purgeLookups } from '../../payouts/lookup.store.ts';
import { rescheduleStalledQueues } from '../../webhooks/queue.store.ts';

/**
 * What must be there in time and what must leave: coming months are made, old idempotency keys, tokens and lookups go, in sets so
 * that no delete holds its locks for long. Lines of webhooks that nobody would look at again are woken: there should be none.
 * @returns how many rows left in this round; call again while there are any
 */
export async function housekeeping(deps: SystemDeps): Promise<number> {
  const made = await makeMonths(deps.system);
  if (made > 0) deps.log.info({ count: made }, 'months made');
  const forgotten = await rescheduleStalledQueues(deps.system);
  if (forgotten > 0)
    deps.log.error({ count: forgotten }, 'webhook lines held events and nobody would have looked; woken');
  const left = [
    await purgeIdempotencyKeys(deps.system),
    await purgeAccessTokens(deps.system),
    await purgeCredentialChanges(deps.system),
    await purgeLookups(deps.system),
  ];
  return left.reduce((sum, count) => sum + count, 0);
}
