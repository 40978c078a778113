import type { LinkDrill } from './link-drill.ts';
import type { DrilledBug } from './run-drilled-bugs.ts';

const LINKS = 'payment-links/payment-link-outcome.store.ts';
const JUDGING = 'payins/payin.outcome.ts';
const APPLYING = 'flows/apply-words.ts';

const ATTEMPT = 'one attempt at a time';
const TELLS = 'a link tells of its one end';

/** Mistakes about payment links; their names begin alike, so that `--only "a link"` chooses them. */
export const LINK_BUGS: readonly DrilledBug<LinkDrill>[] = [
  {
    name: 'a link is completed in another transaction than its payin',
    patches: [
      // Whoever writes from elsewhere would wait for this lock for ever.
      {
        file: LINKS,
        find: 'order by l.organization_id, l.id for update of l`',
        replace: 'order by l.organization_id, l.id`',
      },
      {
        file: APPLYING,
        find: 'await endAttempts(tx, moved.flatMap(endedAttempt));',
        replace: `await deps.system.transaction('expire links', (other) => endAttempts(other, moved.flatMap(endedAttempt)));`,
      },
    ],
    drill: async (drill) => {
      const link = await drill.link();
      await drill.begin(link);
      // Money is booked last: whoever gets there has not committed yet.
      await drill.whileBooksAreHeld(() => drill.payAttempt(link));
    },
    breaks: [TELLS],
  },
  {
    name: 'a link is taken though an attempt is under way',
    patches: [
      {
        file: LINKS,
        find: 'and l.open_payin_id is null and l.shuts_at > caudal.now()',
        replace: 'and l.shuts_at > caudal.now()',
      },
    ],
    drill: async (drill) => {
      const link = await drill.link(false);
      await drill.begin(link);
      await drill.begin(link);
      await drill.look();
    },
    breaks: [ATTEMPT],
  },
  {
    name: 'a link expires though an attempt is under way',
    patches: [
      {
        file: LINKS,
        find: 'and l.open_payin_id is null and l.shuts_at <= caudal.now()',
        replace: 'and l.shuts_at <= caudal.now()',
      },
      {
        file: LINKS,
        find: `set status = 'EXPIRED', updated_at`,
        replace: `set status = 'EXPIRED', open_payin_id = null, updated_at`,
      },
    ],
    drill: async (drill) => {
      const [paying, idle] = [await drill.link(), await drill.link()];
      await drill.begin(paying, 'PSE');
      await drill.close(paying);
      await drill.close(idle);
      // Whoever expires this one has passed the other.
      await drill.ended(idle);
      await drill.look();
    },
    breaks: [ATTEMPT],
  },
  {
    name: 'a link is completed by less than its amount',
    patches: [
      {
        file: JUDGING,
        find: `(payin.link !== 'ended' && amount === payin.amount)`,
        replace: `(payin.link !== 'ended' && amount <= payin.amount)`,
      },
    ],
    drill: async (drill) => {
      const link = await drill.link();
      await drill.begin(link);
      await drill.payAttempt(link, 0.5);
      await drill.free(link);
      await drill.look();
    },
    breaks: ['completed by the one payin that brought the amount'],
  },
];
