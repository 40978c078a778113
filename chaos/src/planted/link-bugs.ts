import type { LinkScenario } from './link-scenario.ts';
import type { ScenarioBug } from './run-scenario-bugs.ts';

const LINKS = 'payment-links/payment-link-outcome.store.ts';
const OUTCOME = 'payins/payin.outcome.ts';
const SCREEN = 'http/checkout/screen.ts';
const APPLYING = 'flows/payins/apply-payin-updates.system.ts';

const ONE_ATTEMPT = 'one_open_attempt_per_rail';
const SCREENS = 'screens_are_true';
const ONE_EVENT = 'one_event_per_final_link';

/** Bugs of payment links; their names start alike, so that `--only "a link"` selects them. */
export const LINK_BUGS: readonly ScenarioBug<LinkScenario>[] = [
  {
    name: 'a link is completed in another transaction than its payin',
    patches: [
      // The other transaction would wait for this lock forever.
      {
        file: LINKS,
        find: 'order by l.organization_id, l.id for update of l`',
        replace: 'order by l.organization_id, l.id`',
      },
      {
        file: APPLYING,
        find: 'await links.end(tx, transitioned);',
        replace: `await deps.system.transaction('expire links', (other) => links.end(other, transitioned));`,
      },
    ],
    scenario: async (scenario) => {
      const link = await scenario.link();
      await scenario.start(link);
      // Money is posted last, so the waiting transaction has not committed yet.
      await scenario.whileBalancesAreLocked(() => scenario.payAttempt(link));
    },
    breaks: [ONE_EVENT],
  },
  {
    name: 'a link expires while an attempt is open',
    patches: [
      {
        file: LINKS,
        find: 'and l.open_breb_payin_id is null and l.open_pse_payin_id is null and l.closes_at <= caudal.now()',
        replace: 'and l.closes_at <= caudal.now()',
      },
      {
        file: LINKS,
        find: `set status = 'EXPIRED', updated_at`,
        replace: `set status = 'EXPIRED', open_breb_payin_id = null, open_pse_payin_id = null, updated_at`,
      },
    ],
    scenario: async (scenario) => {
      const [paying, idle] = [await scenario.link(), await scenario.link()];
      await scenario.start(paying, 'PSE');
      await scenario.close(paying);
      await scenario.close(idle);
      // The worker that expires this link has already processed the other.
      await scenario.ended(idle);
      await scenario.checkRunning();
    },
    breaks: [ONE_ATTEMPT],
  },
  {
    name: 'a link is completed by less than its amount',
    patches: [
      {
        file: OUTCOME,
        find: 'if (amount === requested ||',
        replace: 'if (amount <= requested ||',
      },
      // The database rejects a completed link whose sum is not its amount, so the bug also states another amount.
      {
        file: OUTCOME,
        find: `return { ...NOTHING, transition, postings: [posting(payment, 'pending')] };`,
        replace: `return { ...NOTHING, transition: { ...transition, confirmedAmount: requested }, postings: [posting(payment, 'pending')] };`,
      },
    ],
    scenario: async (scenario) => {
      const link = await scenario.link();
      await scenario.payShare(link, 0.5);
      await scenario.checkRunning();
    },
    breaks: ['confirmed_amount_posted'],
  },
  {
    name: 'a link asks for its whole amount again after a part',
    patches: [
      {
        file: 'flows/payment-links/open-attempt.ts',
        find: 'cents(link.amount_in_cents - link.paid_in_cents)',
        replace: 'link.amount_in_cents',
      },
    ],
    scenario: async (scenario) => {
      const link = await scenario.link();
      await scenario.payShare(link, 0.5);
      await scenario.payShare(link, 1);
      await scenario.checkRunning();
    },
    breaks: ['no_unexplained_records'],
  },
  {
    name: 'a link keeps its earlier parts in suspense when it completes',
    patches: [
      {
        file: APPLYING,
        find: 'if (transition.earlierParts !== null)',
        replace: 'if (transition.earlierParts === 0n)',
      },
    ],
    scenario: async (scenario) => {
      const link = await scenario.link();
      await scenario.payShare(link, 0.5);
      await scenario.payShare(link, 0.5);
    },
    breaks: ['link_parts_credited_once'],
  },
  {
    name: 'a link page ignores a late payment',
    patches: [
      {
        file: SCREEN,
        find: 'if (undecidedPayment(attempts) && (isClosed || !startsAnother))',
        replace: 'if (attempts.length === -1)',
      },
    ],
    scenario: async (scenario) => {
      const link = await scenario.link();
      await scenario.start(link);
      await scenario.changeMethod(link);
      await scenario.settled(link);
      await scenario.payLate(link);
      await scenario.openPage(link);
      await scenario.checkRunning();
    },
    breaks: [SCREENS],
  },
  {
    name: 'a link page states only the last part',
    patches: [
      {
        file: 'http/checkout/attempt-screens.ts',
        find: '? [state.link.paid, state.link.amount]',
        replace: '? [payin.confirmedAmount ?? 0n, state.link.amount]',
      },
    ],
    scenario: async (scenario) => {
      const link = await scenario.link();
      for (const share of [0.25, 0.25]) {
        await scenario.payShare(link, share);
        await scenario.openPage(link);
      }
      await scenario.checkRunning();
    },
    breaks: [SCREENS],
  },
];
