import { recordAction } from '../../audit/operator-action.store.ts';
import type { SystemDeps } from '../../deps.ts';
import { type GuardState, pauseSending, readSendingGuard } from '../../organizations/sending-guard.store.ts';

/** Pauses all sending by hand, as before the first process starts on a restored database. */
export async function pauseAfterRestore(deps: SystemDeps, operator: string, reason: string): Promise<void> {
  await deps.system.transaction('pause rail', async (tx) => {
    await pauseSending(tx, operator, reason);
    await recordAction(tx, {
      operator,
      action: 'rails.pause-after-restore',
      organizationId: null,
      resource: null,
      note: reason,
    });
  });
}

export function readGuard(deps: Pick<SystemDeps, 'system'>): Promise<GuardState> {
  return readSendingGuard(deps.system);
}
