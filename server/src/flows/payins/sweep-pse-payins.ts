import type { SystemDeps } from '../../deps.ts';
import type { SecretKey } from '../../kit/crypto.ts';
import { freshToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { payinOf } from '../../payins/payin.store.ts';
import { type DuePsePayin, leaseDuePsePayins } from '../../payins/pse-payin.store.ts';
import type { PseOpener, PseOrder } from './open-pse-payins.ts';

const AT_ONCE = 32;

/**
 * Goes on with PSE payins whose bank page the creating process did not get: it was slow, refused us, or died.
 * @returns how many were due
 */
export async function sweepPsePayins(deps: SystemDeps, opener: PseOpener, keys: DataKeys): Promise<number> {
  const { allowance } = opener;
  // What has expired is given up whatever the rail or its brake does: that sends no order.
  const onlyExpired = allowance === 'none' || deps.railPauses.allPaused('PSE');
  const excludedOrganizations = deps.railPauses.pausedOrganizations('PSE');
  const leaseToken = freshToken();
  const due = await deps.system.transaction('lease pages', (tx) =>
    leaseDuePsePayins(tx, leaseToken, allowance === 'one' ? 1 : AT_ONCE, excludedOrganizations, onlyExpired),
  );
  if (due.length === 0) return 0;
  const secrets = await keys.of(new Set(due.map((row) => row.organization_id)));
  await Promise.all(
    due.map(async (row) => {
      if (row.expired) return opener.giveUp({ organizationId: row.organization_id, id: row.id, leaseToken });
      // One payin that cannot be read keeps its claim until it ends; its neighbours do not wait for it.
      const order = readable(
        deps,
        () => orderOf(row, leaseToken, secrets(row.organization_id).dataKey),
        row.id,
      );
      if (order) await opener.open(order);
      return undefined;
    }),
  );
  return due.length;
}

function orderOf(row: DuePsePayin, leaseToken: string, dataKey: SecretKey): PseOrder {
  const payin = payinOf(row, dataKey);
  if (payin.customer === null) throw new Error('a PSE payin without its payer cannot be due');
  return {
    organizationId: row.organization_id,
    organizationNumber: row.organization_number,
    payin,
    payer: payin.customer,
    leaseToken,
    attempts: row.rail_attempts,
    sentMsAgo: row.sent_ms_ago,
  };
}

function readable<T>(deps: SystemDeps, read: () => T, payinId: string): T | null {
  try {
    return read();
  } catch (error) {
    deps.log.error({ ...errorFields(error), payinId }, 'a payin that is due cannot be read');
    return null;
  }
}
