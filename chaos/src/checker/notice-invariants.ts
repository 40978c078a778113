import type { Violation, World } from './world.ts';

/** Every acknowledged rail notice is stored, and every stored notice was sent by a rail. */
export function noticeViolations({ rail, rows }: World): Violation[] {
  const stored = new Set(rows.notices.map(({ noticeId }) => noticeId));
  return [
    ...[...rail.acknowledged]
      .filter((noticeId) => !stored.has(noticeId))
      .map(
        (noticeId): Violation => ({
          invariant: 'acknowledged_notice_stored',
          detail: 'an acknowledged notice is missing',
          row: rail.queued.get(noticeId) ?? { noticeId },
        }),
      ),
    ...rows.notices
      .filter(
        ({ noticeId, reference }) => noticeId !== null && rail.queued.get(noticeId)?.reference !== reference,
      )
      .map(
        (row): Violation => ({
          invariant: 'no_unexplained_records',
          detail: 'a notice that no rail sent',
          row,
        }),
      ),
  ];
}
