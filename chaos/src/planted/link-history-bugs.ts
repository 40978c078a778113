import type { Step } from '../model/step.ts';
import type { PlantedBug } from './planted-bug.ts';

const OUTCOME = 'payins/payin.outcome.ts';

const LINK: Step = { do: 'create_link', cents: 600_000, hasCustomer: true, api: 0 };
const ON_BREB: Step = { do: 'start_attempt', nth: 0, rail: 'BRE_B', api: 0, awaitIdle: true };
const ON_PSE: Step = { ...ON_BREB, rail: 'PSE' };

/** Pays the last attempt of the link, or the one before. */
function pays(changes: { readonly back?: 1; readonly share?: 'less'; readonly awaitIdle?: true }): Step {
  return { do: 'pay_attempt', nth: 0, back: 0, share: 'full', times: 1, anyway: false, ...changes };
}

const PAYS_PART = pays({ share: 'less', awaitIdle: true });

/** Bugs of payment links that the histories of the model must detect. */
export const LINK_HISTORY_BUGS: readonly PlantedBug[] = [
  {
    name: 'the second payment of a link is credited to the merchant',
    patches: [
      {
        file: OUTCOME,
        find: `if (payin.link === 'ended')\n    return {`,
        replace: `if (payin.link === 'never')\n    return {`,
      },
    ],
    steps: [LINK, ON_PSE, ON_BREB, { do: 'pay_two_attempts', nth: 0, awaitIdle: true }],
    breaks: ['link_completed_by_sum'],
  },
  {
    name: 'two payments of a link at the same time both complete it',
    patches: [
      {
        file: 'payment-links/payment-link-outcome.store.ts',
        find: 'order by l.organization_id, l.id for update of l`',
        replace: 'order by l.organization_id, l.id`',
      },
    ],
    steps: [
      LINK,
      ON_PSE,
      ON_BREB,
      { do: 'lock', what: 'balance' },
      pays({}),
      { do: 'await_lock_waiters', count: 1 },
      pays({ back: 1 }),
      { do: 'await_lock_waiters', count: 2 },
      { do: 'release_locks', awaitIdle: true },
    ],
    breaks: ['link_completed_by_sum'],
    workers: 2,
  },
  {
    name: 'the parts of a link are credited with a payment that the rail did not list',
    patches: [
      {
        file: OUTCOME,
        find: '(payin.link.paid > 0n || payin.link.missing !== notification.amount)',
        replace: '(payin.link.missing !== notification.amount)',
      },
      // The database rejects parts that are credited with an unverified payment.
      {
        file: OUTCOME,
        find: `verified: cause !== 'paid_on_notification'`,
        replace: 'verified: true',
      },
    ],
    steps: [
      LINK,
      ON_BREB,
      PAYS_PART,
      ON_BREB,
      { do: 'fault', rail: 'BRE_B', on: 'query', fault: 'down', times: 50 },
      { do: 'fault', rail: 'BRE_B', on: 'close', fault: 'down', times: 50 },
      pays({}),
      { do: 'await_faults', count: 1 },
      { do: 'clear', awaitIdle: true },
    ],
    breaks: ['link_parts_credited_once'],
  },
  {
    name: 'the parts of an expired link have no anomalies',
    patches: [
      {
        file: 'flows/payment-links/expire-links.system.ts',
        find: 'row.paid_in_cents > 0n',
        replace: 'row.paid_in_cents > row.amount_in_cents',
      },
    ],
    steps: [LINK, ON_BREB, PAYS_PART, { do: 'close_link', nth: 0, both: false, awaitIdle: true }],
    breaks: ['suspense_has_anomaly'],
  },
];
