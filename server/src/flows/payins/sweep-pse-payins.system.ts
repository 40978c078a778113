import type { SystemDeps } from '../../deps.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import { errorFields } from '../../kit/log.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { payinFromRow } from '../../payins/payin.store.ts';
import { type DuePsePayin, leaseDuePsePayins } from '../../payins/pse-payin.store.ts';
import { collectionDescription } from './collection-description.ts';
import type { PseOpener, PseOrder } from './open-pse-payins.ts';

const BATCH_SIZE = 32;

/**
 * Requests the bank page of PSE payins whose creating process did not get it: PSE was slow or unavailable, or the process
 * died.
 * @returns the number of due payins
 */
export async function sweepPsePayins(
  deps: SystemDeps,
  opener: PseOpener,
  dataKeys: DataKeys,
): Promise<number> {
  const { allowance } = opener;
  // Expired payins are abandoned even while the rail is unavailable or paused: that sends no order.
  const onlyExpired = allowance === 'none' || deps.railPauses.allPaused('PSE');
  const excludedOrganizations = deps.railPauses.pausedOrganizations('PSE');
  const leaseToken = newLeaseToken();
  const due = await deps.system.transaction('lease pages', (tx) =>
    leaseDuePsePayins(
      tx,
      leaseToken,
      allowance === 'one' ? 1 : BATCH_SIZE,
      excludedOrganizations,
      onlyExpired,
    ),
  );
  if (due.length === 0) return 0;
  const secrets = await dataKeys.load(new Set(due.map((row) => row.organization_id)));
  await Promise.all(
    due.map(async (row) => {
      if (row.expired) return opener.abandon({ organizationId: row.organization_id, id: row.id, leaseToken });
      // An unreadable payin keeps its lease until it expires and does not block the others.
      const order = nullIfUnreadable(
        deps,
        () => toPseOrder(row, leaseToken, secrets(row.organization_id).dataKey),
        row.id,
      );
      if (order) await opener.open(order);
      return undefined;
    }),
  );
  return due.length;
}

function toPseOrder(row: DuePsePayin, leaseToken: string, dataKey: KeyRing): PseOrder {
  const payin = payinFromRow(row, dataKey);
  if (payin.customer === null) throw new Error(`PSE payin ${payin.id} is due but has no payer`);
  return {
    organizationId: row.organization_id,
    organizationNumber: row.organization_number,
    payin,
    payer: payin.customer,
    description: collectionDescription(row.organization_name, row.link_description ?? payin.reference),
    leaseToken,
    attempts: row.rail_attempts,
    sentMsAgo: row.sent_ms_ago,
  };
}

function nullIfUnreadable<T>(deps: SystemDeps, read: () => T, payinId: string): T | null {
  try {
    return read();
  } catch (error) {
    deps.log.error({ ...errorFields(error), code: 'payin_read_failed', payinId }, 'failed to read due payin');
    return null;
  }
}
