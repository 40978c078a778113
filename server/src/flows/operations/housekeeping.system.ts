import { createMonthPartitions } from '../../db/months.ts';
import type { SystemDeps } from '../../deps.ts';
import { purgeIdempotencyKeys } from '../../idempotency/idempotency.store.ts';
import { purgeAccessTokens, purgeCredentialChanges } from '../../organizations/credential.store.ts';
import { purgeLookups } from '../../payouts/lookup.store.ts';
import { purgePayoutUsage } from '../../payouts/payout-limits.store.ts';
import { purgeEmails } from '../../receipts/receipt-email.store.ts';
import { rescheduleStalledQueues } from '../../webhooks/queue.store.ts';

/**
 * Creates upcoming partitions and purges expired idempotency keys, tokens, lookups, usage of payout limits and e-mails in batches, so that no delete holds
 * its locks for long. Reschedules stalled webhook queues, which should not exist.
 * @returns the number of rows purged; call again until it is zero
 */
export async function housekeeping(deps: SystemDeps): Promise<number> {
  const created = await createMonthPartitions(deps.system);
  if (created > 0)
    deps.log.info({ code: 'partitions_created', count: created }, 'created monthly partitions');
  const stalled = await rescheduleStalledQueues(deps.system);
  if (stalled > 0)
    deps.log.error(
      { code: 'stalled_webhook_queues_rescheduled', count: stalled },
      'rescheduled stalled webhook queues',
    );
  const purged = [
    await purgeIdempotencyKeys(deps.system),
    await purgeAccessTokens(deps.system),
    await purgeCredentialChanges(deps.system),
    await purgeLookups(deps.system),
    await purgePayoutUsage(deps.system),
    await purgeEmails(deps.system),
  ];
  return purged.reduce((sum, count) => sum + count, 0);
}
