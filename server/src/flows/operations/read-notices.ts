import type { SystemDeps } from '../../deps.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { openNotice } from '../../rail-notices/notice.seal.ts';
import { listUnreadable, type UnreadableNotice } from '../../rail-notices/notice.store.ts';

/** Messages of rails that nobody understood, as they came: for the eyes of an operator. */
export async function readUnreadable(
  deps: SystemDeps,
  limit: number,
): Promise<(Omit<UnreadableNotice, 'sealedRaw'> & { readonly message: string })[]> {
  const notices = await deps.system.transaction('read', (tx) => listUnreadable(tx, limit));
  const owners = new Set(notices.map((notice) => notice.organizationId));
  const secrets = await new DataKeys(deps.system, deps.masterKeys).of(owners);
  return notices.map(({ sealedRaw, ...notice }) => ({
    ...notice,
    message: openNotice(secrets(notice.organizationId).dataKey, sealedRaw, notice.organizationId, notice.id),
  }));
}
