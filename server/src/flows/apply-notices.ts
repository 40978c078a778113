import type { Tx } from '../db/tx.ts';
import type { SystemDeps } from '../deps.ts';
import { backoffMs } from '../kit/backoff.ts';
import { errorFields } from '../kit/log.ts';
import type { DataKeys } from '../organizations/data-keys.ts';
import {
  concludeNotices,
  type DueNotice,
  type NoticeResult,
  takeNotice,
  takeNotices,
} from '../rail-notices/notice.store.ts';
import { applyWords, type WordResult } from './apply-words.ts';
import { oneByOne } from './one-by-one.ts';

/** So many confirmations share one commit and one update of a balance. */
const AT_ONCE = 500;

/**
 * Applies what rails told us and nobody has applied yet. A notice that cannot be applied does not hold up its
 * neighbours: it is put off, loudly.
 * @returns how many were taken; call again at once while there are any
 */
export async function applyNotices(deps: SystemDeps, keys: DataKeys): Promise<number> {
  let taken: readonly DueNotice[] = [];
  try {
    await deps.system.transaction('apply notices', async (tx) => {
      taken = await takeNotices(tx, AT_ONCE);
      await apply(deps, keys, tx, taken);
    });
  } catch (error) {
    if (taken.length === 0) throw error;
    await oneByOne(
      error,
      taken,
      ({ organizationId, id }) =>
        deps.system.transaction('apply notices', async (tx) =>
          apply(deps, keys, tx, await takeNotice(tx, organizationId, id)),
        ),
      (notice, alone) => putOff(deps, notice, alone),
    );
  }
  return taken.length;
}

async function putOff(
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

async function apply(deps: SystemDeps, keys: DataKeys, tx: Tx, notices: readonly DueNotice[]): Promise<void> {
  if (notices.length === 0) return;
  const words = notices.map(({ rail, reference, word }) => ({
    rail,
    reference,
    told: word,
    standing: null,
    toldLongAgo: false,
  }));
  await applyWords(deps, keys, tx, words, {
    claimToken: null,
    conclude: (results) =>
      concludeNotices(
        tx,
        notices.map((notice, index) => resultOf(notice, results[index] ?? 'doubtful')),
        null,
      ),
  });
}

function resultOf({ organizationId, id }: DueNotice, result: WordResult): NoticeResult {
  return result === 'doubtful'
    ? { organizationId, id, outcome: null, next: { task: 'ask', afterMs: 0 } }
    : { organizationId, id, outcome: result, next: null };
}
