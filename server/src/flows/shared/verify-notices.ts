import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { freshToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import {
  concludeNotices,
  type DueNotice,
  leaseUnverifiedNotices,
  type NoticeResult,
  type NoticeSubject,
} from '../../rail-notices/notice.store.ts';
import type { Rail, RailAnswer } from '../../rails/contract.ts';
import { isolateFailures, POSTPONE_MS } from './isolate-failures.ts';
import type { ApplyUpdates, RailUpdate, UpdateResult } from './rail-update.ts';

export const UNANSWERED: RailAnswer<never> = {
  kind: 'unknown',
  cause: 'the rail did not answer for this reference',
};

interface Doubts<CollectionStatus> {
  readonly about: NoticeSubject;
  readonly rail: Rail;
  readonly limit: number;
  readonly maxProcessingMs: number;
  readonly ask: (references: readonly string[]) => Promise<readonly RailAnswer<CollectionStatus>[]>;
  readonly apply: ApplyUpdates<CollectionStatus>;
}

interface Asked<CollectionStatus> {
  readonly notice: DueNotice;
  readonly answer: RailAnswer<CollectionStatus>;
}

/**
 * Messages that were not to be expected: the rail is asked whether it stands by them.
 * @returns how many were taken; call again at once while there are any
 */
export async function verifyNotices<CollectionStatus>(
  deps: SystemDeps,
  doubts: Doubts<CollectionStatus>,
): Promise<number> {
  const { about, rail, limit } = doubts;
  const leaseToken = freshToken();
  const notices = await deps.system.transaction('lease unverified notices', (tx) =>
    leaseUnverifiedNotices(tx, leaseToken, about, rail, limit),
  );
  if (notices.length === 0) return 0;
  const answers = await doubts.ask(notices.map((notice) => notice.reference));
  const asked = notices.map((notice, index) => ({ notice, answer: answers[index] ?? UNANSWERED }));
  await conclude(deps, doubts, asked, leaseToken).catch((error: unknown) =>
    isolateFailures(
      error,
      asked,
      (each) => conclude(deps, doubts, [each], leaseToken),
      async ({ notice }, alone) => {
        deps.log.error(
          { ...errorFields(alone), noticeId: notice.id, rail },
          'what a rail answered cannot be applied',
        );
        await deps.system.transaction('apply verified notices', (tx) =>
          concludeNotices(tx, [askAgain(notice, POSTPONE_MS)], leaseToken),
        );
      },
    ),
  );
  return notices.length;
}

function conclude<CollectionStatus>(
  deps: SystemDeps,
  { maxProcessingMs, apply }: Doubts<CollectionStatus>,
  asked: readonly Asked<CollectionStatus>[],
  leaseToken: string,
): Promise<unknown> {
  const answered = asked.flatMap(({ notice, answer }) =>
    answer.kind === 'yes' ? [{ notice, railStatus: answer.value }] : [],
  );
  const silent = asked.filter(({ answer }) => answer.kind !== 'yes');
  const updates = answered.map(
    ({ notice, railStatus }): RailUpdate<CollectionStatus> => ({
      rail: notice.rail,
      reference: notice.reference,
      notification: notice.update,
      railStatus,
      pastProcessingWindow: notice.ageMs >= maxProcessingMs,
    }),
  );
  return deps.system.transaction('apply verified notices', (tx) =>
    apply(tx, updates, {
      leaseToken: null,
      conclude: (results) =>
        concludeNotices(
          tx,
          [
            ...answered.map(({ notice }, index) => resultOf(notice, results[index] ?? 'needs_verification')),
            ...silent.map(({ notice }) => askAgain(notice, backoffMs(notice.attempts + 1, 1000, 60_000))),
          ],
          leaseToken,
        ),
    }),
  );
}

function askAgain({ organizationId, id }: DueNotice, afterMs: number): NoticeResult {
  return { organizationId, id, outcome: null, next: { task: 'ask', afterMs } };
}

function resultOf(notice: DueNotice, result: UpdateResult): NoticeResult {
  if (result === 'needs_verification') return askAgain(notice, backoffMs(notice.attempts + 1, 1000, 10_000));
  return { organizationId: notice.organizationId, id: notice.id, outcome: result, next: null };
}
