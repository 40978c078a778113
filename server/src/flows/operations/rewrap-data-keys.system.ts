import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import type { WrappedKey } from '../../kit/master-key.ts';
import { type KeyRow, listKeys, replaceWrappedKey } from '../../organizations/organization-keys.store.ts';
import { dataKeyIdentity, hashKeyIdentity, rewrap } from '../../organizations/secrets.ts';

/**
 * Completes a rotation of the master key: wraps every data key and hash key that a previous master key wrapped with the
 * current one. The keys themselves do not change, so encrypted data and stored hashes stay as they are.
 * @returns the number of rewrapped keys
 */
export async function rewrapDataKeys(deps: SystemDeps, operator: string): Promise<number> {
  // Before the transaction: a key management service is called over the network.
  const rewrapped: { readonly key: KeyRow; readonly fresh: WrappedKey }[] = [];
  for (const key of await listKeys(deps.system)) {
    const fresh = await rewrap(keyIdentity(key), key, deps.masterKeys);
    if (fresh !== null) rewrapped.push({ key, fresh });
  }
  return deps.system.transaction('rewrap keys', async (tx) => {
    let count = 0;
    for (const { key, fresh } of rewrapped) if (await replaceWrappedKey(tx, key, fresh)) count += 1;
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

function keyIdentity({ kind, organizationId, number }: KeyRow): string {
  return kind === 'data' ? dataKeyIdentity(organizationId, number) : hashKeyIdentity(organizationId);
}
