import type { SystemDeps } from '../deps.ts';
import type { OrganizationKeys } from '../organizations/organization-keys.ts';
import { payinOf } from '../payins/payin.store.ts';
import { claimDuePsePayins } from '../payins/pse-payin.store.ts';
import type { PseOpener } from './open-pse-payins.ts';

const AT_ONCE = 32;

/**
 * Goes on with PSE payins whose bank page the creating process did not get: it was slow, refused us, or died.
 * @returns how many were due
 */
export async function sweepPsePayins(
  deps: SystemDeps,
  opener: PseOpener,
  keys: OrganizationKeys,
): Promise<number> {
  const { allowance } = opener;
  if (allowance === 'none') return 0;
  const due = await deps.system.transaction((tx) =>
    claimDuePsePayins(tx, deps.claimToken, allowance === 'one' ? 1 : AT_ONCE),
  );
  if (due.length === 0) return 0;
  const secrets = await keys.of(new Set(due.map((row) => row.organization_id)));
  await Promise.all(
    due.map(async (row) => {
      const payin = payinOf(row, secrets(row.organization_id).dataKey);
      if (payin.customer === null) throw new Error('a PSE payin without its payer cannot be due');
      await opener.open({
        organizationId: row.organization_id,
        organizationNumber: row.organization_number,
        payin,
        payer: payin.customer,
        attempts: row.rail_attempts,
      });
    }),
  );
  return due.length;
}
