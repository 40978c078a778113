import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { listWrappedKeys, replaceWrappedKey } from '../../organizations/organization.store.ts';
import { rewrap } from '../../organizations/secrets.ts';

/**
 * Completes a rotation of the master key: wraps every data key that a previous master key wrapped with the current one.
 * The data keys do not change, so encrypted data stays as it is.
 * @returns the number of rewrapped data keys
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
