import { type Corruption, copyRow, siblingId } from './corruption.ts';

export interface LinkCorruption extends Corruption<null> {
  /** The expected detail: some invariants can be violated in several ways. */
  readonly detail: string;
}

const EXISTS = 'created_link_exists';
const NO_ORIGIN = 'no_unexplained_records';
const ONE_EVENT = 'one_event_per_final_link';
const COMPLETED = 'link_completed_by_sum';
const PARTS = 'link_parts_credited_once';
const ONE_ATTEMPT = 'one_open_attempt_per_rail';
const SUSPENSE = 'suspense_has_anomaly';
const ONE_CREDITED = 'one_payment_credited';
const LEDGER_MATCHES = 'ledger_matches_rail';

const A_LINK = (status: string) =>
  `id = (select id from caudal.payment_links where status = '${status}' order by id limit 1)`;
/** The payin of the first completed link. */
const A_PAYIN = `id = (select payin_id from caudal.payment_links where status = 'COMPLETED' order by id limit 1)`;
const UNDERPAID = `id = (select payin_id from caudal.anomalies where kind = 'underpaid')`;
const CANCELED = `id = (select id from caudal.payins where payment_link_id is not null and status = 'CANCELED' order by id limit 1)`;
const REOPENED = `update caudal.payins set status = 'PROCESSING', error_code = null, result_at = null where ${CANCELED}`;
const ITS_EVENT = (status: string) => `resource = 'paymentlink' and resource_${A_LINK(status)}`;
const UNCHECKED = `
  alter table caudal.payment_links drop constraint link_ended;
  alter table caudal.payment_links drop constraint link_paid;
  alter table caudal.payment_links drop constraint link_completed;`;

/** Corruptions of a correct run with links. */
export const LINK_CORRUPTIONS: readonly LinkCorruption[] = [
  {
    name: 'an acknowledged link is missing',
    invariant: EXISTS,
    detail: 'an acknowledged link is missing',
    sql: `delete from caudal.payment_links where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'the amount of a link changed',
    invariant: EXISTS,
    detail: 'a link differs from its acknowledgment',
    sql: `update caudal.payment_links set amount_in_cents = amount_in_cents + 1 where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'a repeat returned another link',
    invariant: EXISTS,
    detail: 'a repeat returned another link',
    client: (lines) => {
      const created = lines.find(({ kind }) => kind === 'link_created');
      return created ? [...lines, { ...created, linkId: '00000000-0000-7000-8000-000000000000' }] : lines;
    },
  },
  {
    name: 'a link exists twice',
    invariant: EXISTS,
    detail: 'a link does not hold its reference',
    sql: copyRow('payment_links', 'true', { id: siblingId('r.id') }),
  },
  {
    name: 'a reference belongs to a missing link',
    invariant: EXISTS,
    detail: 'a reference belongs to no link',
    sql: `delete from caudal.payment_links where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'a link was never requested',
    invariant: NO_ORIGIN,
    detail: 'a link that no client requested',
    sql: copyRow('payment_links', 'true', { id: siblingId('r.id'), reference: `'never-requested'` }),
  },
  {
    name: 'an event belongs to a missing link',
    invariant: NO_ORIGIN,
    detail: 'an event without a link',
    sql: `delete from caudal.payment_links where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'an acknowledged attempt is missing',
    invariant: 'started_attempt_exists',
    detail: 'the attempt is missing',
    sql: `delete from caudal.payins where ${CANCELED}`,
  },
  {
    name: 'a closed link is open again',
    invariant: 'closed_link_stays_closed',
    detail: 'the link can be paid',
    sql: `update caudal.payment_links set closes_at = caudal.now() + interval '1 hour'`,
  },
  {
    name: 'the event of an expired link is missing',
    invariant: ONE_EVENT,
    detail: 'EXPIRED with 0 events and 1 final events',
    sql: `delete from caudal.events where ${ITS_EVENT('EXPIRED')}`,
  },
  {
    name: 'a link has events for both final statuses',
    invariant: ONE_EVENT,
    detail: 'COMPLETED with 2 events and 1 final events',
    sql: copyRow('events', `r.${ITS_EVENT('COMPLETED')}`, {
      id: siblingId('r.id'),
      event: `'paymentlink.expired'`,
    }),
  },
  {
    name: 'the event of a link reports the other final status',
    invariant: ONE_EVENT,
    detail: 'COMPLETED reported as paymentlink.expired',
    sql: `update caudal.events set event = 'paymentlink.expired' where ${ITS_EVENT('COMPLETED')}`,
  },
  {
    name: 'the final event of a link differs',
    invariant: ONE_EVENT,
    detail: 'the final event differs',
    sql: `update caudal.final_events set event_id = ${siblingId('event_id')} where resource_${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a completed link is marked expired',
    invariant: COMPLETED,
    detail: 'EXPIRED although its amount was paid',
    sql: `${UNCHECKED} update caudal.payment_links set status = 'EXPIRED', completed_at = null, payin_id = null where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a link is completed without a payment',
    invariant: COMPLETED,
    detail: 'completed by 0 payins',
    sql: `${UNCHECKED} update caudal.payment_links set status = 'COMPLETED', completed_at = updated_at, payin_id = id where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'a link is completed by another payin',
    invariant: COMPLETED,
    detail: 'completed by another payin',
    sql: `update caudal.payment_links set payin_id = id where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a link is completed by an underpayment',
    invariant: COMPLETED,
    detail: 'completed by another amount than its own',
    sql: `update caudal.payins set confirmed_amount_in_cents = 1 where ${A_PAYIN}`,
  },
  {
    name: 'the sum of a link differs from its attempts',
    invariant: COMPLETED,
    detail: 'its sum differs from its attempts',
    sql: `update caudal.payment_links set paid_in_cents = paid_in_cents + 1 where paid_in_cents > 0 and status = 'EXPIRED'`,
  },
  {
    name: 'the payin that completed a link does not settle its earlier parts',
    invariant: COMPLETED,
    detail: 'its sum differs from its attempts',
    sql: `update caudal.payins set earlier_parts_in_cents = null`,
  },
  {
    name: 'the earlier parts of a completed link are not credited',
    invariant: PARTS,
    detail: 'the parts were not credited once',
    sql: `delete from caudal.ledger_transfers where cause_kind = 'link_parts'`,
  },
  {
    name: 'the earlier parts of a completed link are credited twice',
    invariant: PARTS,
    detail: 'the parts were not credited once',
    sql: copyRow('ledger_transfers', `cause_kind = 'link_parts'`, { id: siblingId('r.id') }),
  },
  {
    name: 'an ended link has an open attempt',
    invariant: ONE_ATTEMPT,
    detail: 'EXPIRED with an open attempt',
    sql: REOPENED,
  },
  {
    name: 'a link has two open attempts',
    invariant: ONE_ATTEMPT,
    detail: '2 open attempts on BRE_B',
    sql: `${REOPENED};
      update caudal.payment_links set status = 'PENDING' where id = (select payment_link_id from caudal.payins where status = 'PROCESSING');
      ${copyRow('payins', `payment_link_id is not null and r.status = 'PROCESSING'`, { id: siblingId('r.id') })}`,
  },
  {
    name: 'a link does not reference its open attempt',
    invariant: ONE_ATTEMPT,
    detail: 'the link does not reference its open attempt',
    sql: `${REOPENED};
      update caudal.payment_links set status = 'PENDING' where id = (select payment_link_id from caudal.payins where status = 'PROCESSING')`,
  },
  {
    name: 'a link references an ended attempt',
    invariant: ONE_ATTEMPT,
    detail: 'the link references an ended attempt',
    sql: `update caudal.payment_links l set status = 'PENDING', open_breb_payin_id = p.id
      from caudal.payins p where p.payment_link_id = l.id and p.${CANCELED}`,
  },
  {
    name: 'a link references a payin that is not its attempt',
    invariant: ONE_ATTEMPT,
    detail: 'the link references a payin that is not its attempt',
    sql: `update caudal.payment_links set status = 'PENDING', open_breb_payin_id = id where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'an ended link still references an attempt',
    invariant: ONE_ATTEMPT,
    detail: 'COMPLETED with an open attempt',
    sql: `${UNCHECKED} update caudal.payment_links set open_breb_payin_id = payin_id where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'an attempt has another amount than its link',
    invariant: NO_ORIGIN,
    detail: 'an attempt without a link or with another amount',
    sql: `update caudal.payins set amount_in_cents = amount_in_cents + 1 where ${CANCELED}`,
  },
  {
    name: 'a payin of a link has an event',
    invariant: 'link_payin_has_no_event',
    detail: 'the payin has an event',
    sql: `update caudal.events set event = 'payin.confirmed', resource = 'payin',
        resource_id = (select id from caudal.payins where ${A_PAYIN}) where ${ITS_EVENT('COMPLETED')}`,
  },
  {
    name: 'a payin without details that a payer entered has an authorization',
    invariant: 'payer_details_authorized',
    detail: 'payer details and authorization differ',
    sql: `insert into caudal.payer_authorizations (organization_id, payin_id, text_id, at, evidence)
      select organization_id, id, 'x', created_at, '' from caudal.payins where ${A_PAYIN}`,
  },
  {
    name: 'the event of a link has another timestamp than the link',
    invariant: 'link_event_matches_link',
    detail: 'the payload differs from the link',
    sql: `update caudal.payment_links set updated_at = updated_at + interval '1 second' where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a link is open past its expiry',
    invariant: 'no_pending_work',
    detail: 'a link is open past its expiry',
    sql: `update caudal.payment_links set status = 'PENDING' where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'an underpayment is credited to the merchant',
    invariant: ONE_CREDITED,
    detail: 'DECLINED, but money was credited to the merchant',
    sql: `update caudal.ledger_transfers set credit_account = 'pending' where resource_id = (select id from caudal.payins where ${UNDERPAID})`,
  },
  {
    name: 'the anomaly of an underpaid link is missing',
    invariant: SUSPENSE,
    detail: 'an underpayment has no matching anomaly',
    sql: `delete from caudal.anomalies where kind = 'underpaid'`,
  },
  {
    name: 'the anomaly of an overpaid link is missing',
    invariant: SUSPENSE,
    detail: 'no matching overpaid anomaly',
    sql: `delete from caudal.anomalies where kind = 'overpaid'`,
  },
  {
    name: 'the excess of an overpayment is not posted',
    invariant: LEDGER_MATCHES,
    detail: 'posted with another amount',
    sql: `delete from caudal.ledger_transfers where cause_kind = 'payment_excess'`,
  },
  {
    name: 'the excess of an overpayment is credited to the merchant',
    invariant: ONE_CREDITED,
    detail: 'an excess went to pending',
    sql: `update caudal.ledger_transfers set credit_account = 'pending' where cause_kind = 'payment_excess'`,
  },
  {
    name: 'an underpayment is pending settlement',
    invariant: 'settlements_match_payins',
    detail: 'DECLINED with settlement PENDING_SETTLEMENT',
    sql: `alter table caudal.payins drop constraint payin_underpaid; update caudal.payins set settlement_status = 'PENDING_SETTLEMENT' where ${UNDERPAID}`,
  },
];
