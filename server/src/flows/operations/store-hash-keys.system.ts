import type { SystemDeps } from '../../deps.ts';
import { insertHashKey, listWithoutHashKey } from '../../organizations/organization-keys.store.ts';
import { wrapDerivedHashKey } from '../../organizations/secrets.ts';

/**
 * Stores the hash key of every organization that has none: versions before 0016 derived it from the data key. The stored
 * key equals the derived one, so that no stored hash changes. Until it is stored, processes derive it.
 */
export async function storeHashKeys({
  system,
  masterKeys,
}: Pick<SystemDeps, 'system' | 'masterKeys'>): Promise<void> {
  for (const dataKey of await listWithoutHashKey(system)) {
    const { organizationId } = dataKey;
    const hashKey = await wrapDerivedHashKey(organizationId, dataKey, masterKeys);
    await insertHashKey(system, organizationId, hashKey);
  }
}
