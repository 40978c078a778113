import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { errorFields } from '../../kit/log.ts';
import {
  concludeNotices,
  type DueNotice,
  type NoticeResult,
  type NoticeSubject,
  takeNotice,
  takeNotices,
} from '../../rail-notices/notice.store.ts';
import { isolateFailures } from './isolate-failures.ts';
import type { ApplyUpdates, UpdateResult } from './rail-update.ts';

/** So many confirmations share one commit and one update of a balance. */
const AT_ONCE = 500;

/**
 * Applies what rails told us and nobody has applied yet. A notice that cannot be applied does not hold up its
 * neighbours: it is put off, loudly.
 * @returns how many were taken; call again at once while there are any
 */
export async function applyNotices(
  deps: SystemDeps,
  about: NoticeSubject,
  apply: ApplyUpdates<never>,
): Promise<number> {
  let taken: readonly DueNotice[] = [];
  try {
    await deps.system.transaction('apply notices', async (tx) => {
      taken = await takeNotices(tx, about, AT_ONCE);
      await applyTaken(tx, apply, taken);
    });
  } catch (error) {
    if (taken.length === 0) throw error;
    await isolateFailures(
      error,
      taken,
      ({ organizationId, id }) =>
        deps.system.transaction('apply notices', async (tx) =>
          applyTaken(tx, apply, await takeNotice(tx, organizationId, id)),
        ),
      (notice, alone) => postpone(deps, notice, alone),
    );
  }
  return taken.length;
}

async function postpone(
  deps: SystemDeps,
  { organizationId, id, attempts }: DueNotice,
  error: unknown,
): Promise<void> {
  deps.log.error({ ...errorFields(error), noticeId: id }, 'what a rail told us cannot be applied');
  const next = { task: 'apply', afterMs: backoffMs(attempts + 1, 1000, 600_000) } as const;
  await deps.system.transaction('apply notices', async (tx) => {
    const still = await takeNotice(tx, organizationId, id);
    await concludeNotices(
      tx,
      still.map(() => ({ organizationId, id, outcome: null, next })),
      null,
    );
  });
}

async function applyTaken(tx: Tx, apply: ApplyUpdates<never>, notices: readonly DueNotice[]): Promise<void> {
  if (notices.length === 0) return;
  const updates = notices.map(({ rail, reference, update }) => ({
    rail,
    reference,
    notification: update,
    railStatus: null,
    pastProcessingWindow: false,
  }));
  await apply(tx, updates, {
    leaseToken: null,
    conclude: (results) =>
      concludeNotices(
        tx,
        notices.map((notice, index) => resultOf(notice, results[index] ?? 'needs_verification')),
        null,
      ),
  });
}

function resultOf({ organizationId, id }: DueNotice, result: UpdateResult): NoticeResult {
  return result === 'needs_verification'
    ? { organizationId, id, outcome: null, next: { task: 'ask', afterMs: 0 } }
    : { organizationId, id, outcome: result, next: null };
}
