import type { LinkScenario } from './link-scenario.ts';
import type { ScenarioBug } from './run-scenario-bugs.ts';

const LINKS = 'payment-links/payment-link-outcome.store.ts';
const JUDGING = 'payins/payin.outcome.ts';
const APPLYING = 'flows/payins/apply-payin-updates.ts';

const ATTEMPT = 'one attempt at a time';
const TELLS = 'a link tells of its one end';

/** Mistakes about payment links; their names begin alike, so that `--only "a link"` chooses them. */
export const LINK_BUGS: readonly ScenarioBug<LinkScenario>[] = [
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
    scenario: async (scenario) => {
      const link = await scenario.link();
      await scenario.begin(link);
      // Money is booked last: whoever gets there has not committed yet.
      await scenario.whileBooksAreHeld(() => scenario.payAttempt(link));
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
    scenario: async (scenario) => {
      const link = await scenario.link(false);
      await scenario.begin(link);
      await scenario.begin(link);
      await scenario.look();
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
    scenario: async (scenario) => {
      const [paying, idle] = [await scenario.link(), await scenario.link()];
      await scenario.begin(paying, 'PSE');
      await scenario.close(paying);
      await scenario.close(idle);
      // Whoever expires this one has passed the other.
      await scenario.ended(idle);
      await scenario.look();
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
    scenario: async (scenario) => {
      const link = await scenario.link();
      await scenario.begin(link);
      await scenario.payAttempt(link, 0.5);
      await scenario.free(link);
      await scenario.look();
    },
    breaks: ['completed by the one payin that brought the amount'],
  },
];
