import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import {
  concludeNotices,
  type DueNotice,
  leaseUnverifiedNotices,
  type NoticeResult,
  type NoticeSubject,
} from '../../rail-notices/notice.store.ts';
import { type Rail, type RailAnswer, unanswered } from '../../rails/contract.ts';
import { POSTPONE_MS, processIsolated } from './isolate-failures.ts';
import type { ApplyUpdates, RailUpdate, UpdateResult } from './rail-update.ts';
import { traceNotifications } from './trace-updates.ts';

export const UNANSWERED = unanswered('the rail did not answer for this reference');

interface NoticeVerification<Status> {
  readonly about: NoticeSubject;
  readonly rail: Rail;
  readonly limit: number;
  readonly maxProcessingMs: number;
  readonly queryStatus: (references: readonly string[]) => Promise<readonly RailAnswer<Status>[]>;
  readonly apply: ApplyUpdates<Status>;
}

interface QueriedNotice<Status> {
  readonly notice: DueNotice;
  readonly answer: RailAnswer<Status>;
}

/**
 * Verifies unexpected notices: queries the rail and applies the notice together with the queried status.
 * @returns the number of processed notices; call again immediately while it is not zero
 */
export async function verifyNotices<Status>(
  deps: SystemDeps,
  verification: NoticeVerification<Status>,
): Promise<number> {
  const { about, rail, limit } = verification;
  const leaseToken = newLeaseToken();
  const notices = await deps.system.transaction('lease unverified notices', (tx) =>
    leaseUnverifiedNotices(tx, leaseToken, about, rail, limit),
  );
  if (notices.length === 0) return 0;
  const answers = await verification.queryStatus(notices.map((notice) => notice.reference));
  const queried = notices.map((notice, index) => ({ notice, answer: answers[index] ?? UNANSWERED }));
  await processIsolated(
    queried,
    (some) => conclude(deps, verification, some, leaseToken),
    async ({ notice }, error) => {
      deps.log.error(
        { ...errorFields(error), code: 'rail_status_apply_failed', noticeId: notice.id, rail },
        'failed to apply rail status; postponed',
      );
      await deps.system.transaction('apply verified notices', (tx) =>
        concludeNotices(tx, [toRetry(notice, POSTPONE_MS)], leaseToken),
      );
    },
  );
  return notices.length;
}

async function conclude<Status>(
  deps: SystemDeps,
  { maxProcessingMs, apply }: NoticeVerification<Status>,
  queried: readonly QueriedNotice<Status>[],
  leaseToken: string,
): Promise<void> {
  const answered = queried.flatMap(({ notice, answer }) =>
    answer.kind === 'yes' ? [{ notice, railStatus: answer.value }] : [],
  );
  const unanswered = queried.filter(({ answer }) => answer.kind !== 'yes');
  const updates = answered.map(
    ({ notice, railStatus }): RailUpdate<Status> => ({
      rail: notice.rail,
      reference: notice.reference,
      notification: notice.update,
      railStatus,
      pastProcessingWindow: notice.ageMs >= maxProcessingMs,
    }),
  );
  let traces: readonly (Buffer | null)[] = [];
  await deps.system.transaction('apply verified notices', (tx) =>
    apply(tx, updates, {
      conclude: (results) =>
        concludeNotices(
          tx,
          [
            ...answered.map(({ notice }, index) =>
              toNoticeResult(notice, results[index] ?? 'needs_verification'),
            ),
            ...unanswered.map(({ notice }) => toRetry(notice, backoffMs(notice.attempts + 1, 1000, 60_000))),
          ],
          leaseToken,
        ),
      onTraces: (found) => {
        traces = found;
      },
    }),
  );
  traceNotifications(
    deps.tracer,
    answered.map(({ notice }, index) => ({ ...notice, traceContext: traces[index] ?? null })),
  );
}

function toRetry({ organizationId, id }: DueNotice, afterMs: number): NoticeResult {
  return { organizationId, id, outcome: null, next: { task: 'verify', afterMs } };
}

function toNoticeResult(notice: DueNotice, result: UpdateResult): NoticeResult {
  if (result === 'needs_verification') return toRetry(notice, backoffMs(notice.attempts + 1, 1000, 10_000));
  return { organizationId: notice.organizationId, id: notice.id, outcome: result, next: null };
}
