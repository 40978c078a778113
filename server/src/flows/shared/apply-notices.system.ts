import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { errorFields } from '../../kit/log.ts';
import {
  concludeNotices,
  type DueNotice,
  lockDueNotice,
  lockDueNotices,
  type NoticeResult,
  type NoticeSubject,
} from '../../rail-notices/notice.store.ts';
import { isolateFailures } from './isolate-failures.ts';
import type { ApplyUpdates, UpdateResult } from './rail-update.ts';
import { traceNotifications } from './trace-updates.ts';

/** Notices that share one commit and one balance update. */
const BATCH_SIZE = 500;

/**
 * Applies stored notices. A notice that fails is logged and postponed, so that it does not block the others.
 * @returns the number of processed notices; call again immediately while it is not zero
 */
export async function applyNotices(
  deps: SystemDeps,
  about: NoticeSubject,
  apply: ApplyUpdates<never>,
): Promise<number> {
  let locked: readonly DueNotice[] = [];
  try {
    const applied = await deps.system.transaction('apply notices', async (tx) => {
      locked = await lockDueNotices(tx, about, BATCH_SIZE);
      return applyLocked(tx, apply, locked);
    });
    traceNotifications(deps.tracer, applied);
  } catch (error) {
    if (locked.length === 0) throw error;
    await isolateFailures(
      error,
      locked,
      async ({ organizationId, id }) => {
        const applied = await deps.system.transaction('apply notices', async (tx) =>
          applyLocked(tx, apply, await lockDueNotice(tx, organizationId, id)),
        );
        traceNotifications(deps.tracer, applied);
      },
      (notice, itemError) => postpone(deps, notice, itemError),
    );
  }
  return locked.length;
}

async function postpone(
  deps: SystemDeps,
  { organizationId, id, attempts }: DueNotice,
  error: unknown,
): Promise<void> {
  deps.log.error(
    { ...errorFields(error), code: 'notice_apply_failed', noticeId: id },
    'failed to apply rail notice; postponed',
  );
  const next = { task: 'apply', afterMs: backoffMs(attempts + 1, 1000, 600_000) } as const;
  await deps.system.transaction('apply notices', async (tx) => {
    const stillDue = await lockDueNotice(tx, organizationId, id);
    await concludeNotices(
      tx,
      stillDue.map(() => ({ organizationId, id, outcome: null, next })),
      null,
    );
  });
}

interface AppliedNotice extends DueNotice {
  /** The stored trace of its payin or payout. */
  readonly traceContext: Buffer | null;
}

async function applyLocked(
  tx: Tx,
  apply: ApplyUpdates<never>,
  notices: readonly DueNotice[],
): Promise<AppliedNotice[]> {
  if (notices.length === 0) return [];
  let traces: readonly (Buffer | null)[] = [];
  const updates = notices.map(({ rail, reference, update }) => ({
    rail,
    reference,
    notification: update,
    railStatus: null,
    pastProcessingWindow: false,
  }));
  await apply(tx, updates, {
    conclude: (results) =>
      concludeNotices(
        tx,
        notices.map((notice, index) => toNoticeResult(notice, results[index] ?? 'needs_verification')),
        null,
      ),
    onTraces: (found) => {
      traces = found;
    },
  });
  return notices.map((notice, index) => ({ ...notice, traceContext: traces[index] ?? null }));
}

function toNoticeResult({ organizationId, id }: DueNotice, result: UpdateResult): NoticeResult {
  return result === 'needs_verification'
    ? { organizationId, id, outcome: null, next: { task: 'verify', afterMs: 0 } }
    : { organizationId, id, outcome: result, next: null };
}
