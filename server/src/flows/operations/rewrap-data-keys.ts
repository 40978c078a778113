import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { listWrappedKeys, replaceWrappedKey } from '../../organizations/organization.store.ts';
import { rewrap } from '../../organizations/secrets.ts';

/**
 * Ends a rotation of the master key: every data key that an earlier one wrapped is wrapped by the present one. The data
 * keys themselves do not change, so nothing that they encrypted is touched.
 * @returns how many were wrapped anew
 */
export function rewrapDataKeys(deps: SystemDeps, operator: string): Promise<number> {
  return deps.system.transaction('rewrap keys', async (tx) => {
    let count = 0;
    for (const stored of await listWrappedKeys(tx)) {
      const fresh = rewrap(stored.organizationId, stored, deps.masterKeys);
      if (fresh === null) continue;
      await replaceWrappedKey(tx, stored.organizationId, fresh);
      count += 1;
    }
    await recordAction(tx, {
      operator,
      action: 'secrets.rewrap',
      organizationId: null,
      resource: null,
      details: { rewrapped: count },
    });
    return count;
  });
}
