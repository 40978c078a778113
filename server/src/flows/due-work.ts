import { ACCEPTANCES_DUE } from '../anomalies/acceptance.store.ts';
import type { DueProbes } from '../jobs/due-work.store.ts';
import { KEYS_DUE } from '../payins/breb-key.store.ts';
import { payinTaskDue } from '../payins/payin-outcome.store.ts';
import { LINKS_DUE } from '../payment-links/payment-link-outcome.store.ts';
import { QUESTIONS_DUE } from '../payouts/payout-outcome.store.ts';
import { SENDS_DUE } from '../payouts/payout-send.store.ts';
import { doubtfulDue, noticesDue } from '../rail-notices/notice.store.ts';
import type { Rail } from '../rails/contract.ts';
import { EVENTS_DUE } from '../webhooks/delivery.store.ts';
import { LINES_DUE } from '../webhooks/line.store.ts';

/** When each loop of a worker has something to do. */
export const DUE_PROBES: DueProbes = {
  key_registration: KEYS_DUE,
  pse_opening: payinTaskDue('PSE', 'open'),
  payin_notices: noticesDue('payin'),
  payout_notices: noticesDue('payout'),
  // Of the payouts that are to be sent, those whose resolution has expired.
  key_resolution: SENDS_DUE,
  payout_sending: SENDS_DUE,
  payout_polling: `(${QUESTIONS_DUE} or ${doubtfulDue('payout', 'BRE_B')})`,
  acceptance_booking: ACCEPTANCES_DUE,
  link_expiry: LINKS_DUE,
  event_dispatch: EVENTS_DUE,
  webhook_delivery: LINES_DUE,
  breb_polling: pollingDue('BRE_B'),
  pse_polling: pollingDue('PSE'),
};

function pollingDue(rail: Rail): string {
  return `(${payinTaskDue(rail, 'ask')} or ${payinTaskDue(rail, 'close')} or ${doubtfulDue('payin', rail)})`;
}
