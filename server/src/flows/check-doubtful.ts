import type { SystemDeps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { freshToken } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import {
  claimDoubtful,
  concludeNotices,
  type DueNotice,
  type NoticeResult,
  type NoticeSubject,
} from '../rail-notices/notice.store.ts';
import type { Rail, RailAnswer } from '../rails/contract.ts';
import { oneByOne, PUT_OFF_MS } from './one-by-one.ts';
import type { ApplyWords, Word, WordResult } from './words.ts';

export const UNANSWERED: RailAnswer<never> = {
  kind: 'unknown',
  cause: 'the rail did not answer for this reference',
};

interface Doubts<Standing> {
  readonly about: NoticeSubject;
  readonly rail: Rail;
  readonly most: number;
  readonly longestProcessingMs: number;
  readonly ask: (references: readonly string[]) => Promise<readonly RailAnswer<Standing>[]>;
  readonly apply: ApplyWords<Standing>;
}

interface Asked<Standing> {
  readonly notice: DueNotice;
  readonly answer: RailAnswer<Standing>;
}

/**
 * Messages that were not to be expected: the rail is asked whether it stands by them.
 * @returns how many were taken; call again at once while there are any
 */
export async function checkDoubtful<Standing>(deps: SystemDeps, doubts: Doubts<Standing>): Promise<number> {
  const { about, rail, most } = doubts;
  const claimToken = freshToken();
  const notices = await deps.system.transaction('claim doubtful notices', (tx) =>
    claimDoubtful(tx, claimToken, about, rail, most),
  );
  if (notices.length === 0) return 0;
  const answers = await doubts.ask(notices.map((notice) => notice.reference));
  const asked = notices.map((notice, index) => ({ notice, answer: answers[index] ?? UNANSWERED }));
  await conclude(deps, doubts, asked, claimToken).catch((error: unknown) =>
    oneByOne(
      error,
      asked,
      (each) => conclude(deps, doubts, [each], claimToken),
      async ({ notice }, alone) => {
        deps.log.error(
          { ...errorFields(alone), noticeId: notice.id, rail },
          'what a rail answered cannot be applied',
        );
        await deps.system.transaction('apply checked notices', (tx) =>
          concludeNotices(tx, [askAgain(notice, PUT_OFF_MS)], claimToken),
        );
      },
    ),
  );
  return notices.length;
}

function conclude<Standing>(
  deps: SystemDeps,
  { longestProcessingMs, apply }: Doubts<Standing>,
  asked: readonly Asked<Standing>[],
  claimToken: string,
): Promise<unknown> {
  const answered = asked.flatMap(({ notice, answer }) =>
    answer.kind === 'yes' ? [{ notice, standing: answer.value }] : [],
  );
  const silent = asked.filter(({ answer }) => answer.kind !== 'yes');
  const words = answered.map(
    ({ notice, standing }): Word<Standing> => ({
      rail: notice.rail,
      reference: notice.reference,
      told: notice.word,
      standing,
      toldLongAgo: notice.ageMs >= longestProcessingMs,
    }),
  );
  return deps.system.transaction('apply checked notices', (tx) =>
    apply(tx, words, {
      claimToken: null,
      conclude: (results) =>
        concludeNotices(
          tx,
          [
            ...answered.map(({ notice }, index) => resultOf(notice, results[index] ?? 'doubtful')),
            ...silent.map(({ notice }) => askAgain(notice, backoffMs(notice.attempts + 1, 1000, 60_000))),
          ],
          claimToken,
        ),
    }),
  );
}

function askAgain({ organizationId, id }: DueNotice, afterMs: number): NoticeResult {
  return { organizationId, id, outcome: null, next: { task: 'ask', afterMs } };
}

function resultOf(notice: DueNotice, result: WordResult): NoticeResult {
  if (result === 'doubtful') return askAgain(notice, backoffMs(notice.attempts + 1, 1000, 10_000));
  return { organizationId: notice.organizationId, id: notice.id, outcome: result, next: null };
}
