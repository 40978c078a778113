import { ACCEPTANCES_DUE } from '../../anomalies/acceptance.store.ts';
import type { DueProbes } from '../../jobs/due-work.store.ts';
import { KEYS_DUE } from '../../payins/breb-key.store.ts';
import { payinTaskDue } from '../../payins/payin-outcome.store.ts';
import { LINKS_DUE } from '../../payment-links/payment-link-outcome.store.ts';
import { POLLS_DUE } from '../../payouts/payout-outcome.store.ts';
import { SENDS_DUE } from '../../payouts/payout-send.store.ts';
import { noticesDue, unverifiedDue } from '../../rail-notices/notice.store.ts';
import type { Rail } from '../../rails/contract.ts';
import { EMAILS_DUE } from '../../receipts/receipt-email.store.ts';
import { EVENTS_DUE } from '../../webhooks/delivery.store.ts';
import { QUEUES_DUE } from '../../webhooks/queue.store.ts';

/** SQL conditions under which each worker loop has due work. */
export const DUE_PROBES: DueProbes = {
  key_registration: KEYS_DUE,
  pse_opening: payinTaskDue('PSE', 'open'),
  payin_notices: noticesDue('payin'),
  payout_notices: noticesDue('payout'),
  // Payouts due to be sent include those whose resolution has expired.
  key_resolution: SENDS_DUE,
  payout_sending: SENDS_DUE,
  payout_polling: `(${POLLS_DUE} or ${unverifiedDue('payout', 'BRE_B')})`,
  acceptance_posting: ACCEPTANCES_DUE,
  link_expiry: LINKS_DUE,
  receipt_emails: EMAILS_DUE,
  event_dispatch: EVENTS_DUE,
  webhook_delivery: QUEUES_DUE,
  breb_polling: pollingDue('BRE_B'),
  pse_polling: pollingDue('PSE'),
};

function pollingDue(rail: Rail): string {
  return `(${payinTaskDue(rail, 'poll')} or ${payinTaskDue(rail, 'close')} or ${unverifiedDue('payin', rail)})`;
}
