import type { SystemDeps } from '../../deps.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { decryptNotice } from '../../rail-notices/notice.encryption.ts';
import { listUnreadable, type UnreadableNotice } from '../../rail-notices/notice.store.ts';

/** Rail notices that could not be parsed, decrypted for an operator. */
export async function readUnreadable(
  deps: SystemDeps,
  limit: number,
): Promise<(Omit<UnreadableNotice, 'encryptedRaw'> & { readonly message: string })[]> {
  const notices = await deps.system.transaction('read', (tx) => listUnreadable(tx, limit));
  const owners = new Set(notices.map((notice) => notice.organizationId));
  const secrets = await new DataKeys(deps.system, deps.masterKeys).load(owners);
  return notices.map(({ encryptedRaw, ...notice }) => ({
    ...notice,
    message: decryptNotice(
      secrets(notice.organizationId).dataKey,
      encryptedRaw,
      notice.organizationId,
      notice.id,
    ),
  }));
}
