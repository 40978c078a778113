import { purgeIdempotencyKeys } from '../claims/idempotency.store.ts';
import { makeMonths } from '../db/startup-checks.ts';
import type { SystemDeps } from '../deps.ts';
import { purgeAccessTokens, purgeCredentialChanges } from '../organizations/credential.store.ts';

/** What must leave and what must be there in time: old idempotency keys and tokens go, coming months are made. */
export async function keepHouse(deps: SystemDeps): Promise<void> {
  const made = await makeMonths(deps.system);
  if (made > 0) deps.log.info({ count: made }, 'months made');
  // In sets, so that no delete holds its locks for long.
  while ((await purgeIdempotencyKeys(deps.system)) > 0);
  while ((await purgeAccessTokens(deps.system)) > 0);
  while ((await purgeCredentialChanges(deps.system)) > 0);
}
