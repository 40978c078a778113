import type { Violation, World } from './world.ts';

/** What a rail told us and we acknowledged is kept, and nothing is kept that it never said. */
export function noticeViolations({ rail, rows }: World): Violation[] {
  const kept = new Set(rows.notices.map(({ noticeId }) => noticeId));
  return [
    ...[...rail.acknowledged]
      .filter((noticeId) => !kept.has(noticeId))
      .map((noticeId) => ({
        promise: 'every acknowledged notice is kept',
        what: 'a notice was acknowledged and is gone',
        row: rail.queued.get(noticeId) ?? { noticeId },
      })),
    ...rows.notices
      .filter(
        ({ noticeId, reference }) => noticeId !== null && rail.queued.get(noticeId)?.reference !== reference,
      )
      .map((row) => ({ promise: 'nothing from nowhere', what: 'a notice that no rail sent', row })),
  ];
}
