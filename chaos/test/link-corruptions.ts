import { BASELINE, copyRow, type Damage } from './damage.ts';

interface LinkDamage extends Damage<null> {
  /** What exactly is to be told: several promises can be broken in more than one way. */
  readonly what: string;
}

const EXISTS = 'every link exists as told, once';
const NOWHERE = 'nothing from nowhere';
const TELLS = 'a link tells of its one end';
const COMPLETED = 'completed by the one payin that brought the amount';
const ATTEMPT = 'one attempt at a time';
const SUSPENSE = 'money in suspense has its anomaly';
const SHARE = 'one payment to the merchant, the rest in suspense';
const BOOKS = "the books equal the rail's";

const A_LINK = (status: string) =>
  `id = (select id from caudal.payment_links where status = '${status}' order by id limit 1)`;
/** Of the first link that is completed. */
const A_PAYIN = `id = (select payin_id from caudal.payment_links where status = 'COMPLETED' order by id limit 1)`;
const UNDERPAID = `id = (select payin_id from caudal.anomalies where kind = 'underpaid')`;
const CANCELED = `id = (select id from caudal.payins where payment_link_id is not null and status = 'CANCELED' order by id limit 1)`;
const REOPENED = `update caudal.payins set status = 'PROCESSING', error_code = null, result_at = null where ${CANCELED}`;
const ITS_EVENT = (status: string) => `resource = 'paymentlink' and resource_${A_LINK(status)}`;
const UNCHECKED = `
  alter table caudal.payment_links drop constraint link_ended;
  alter table caudal.payment_links drop constraint link_completed;`;

/** One way each to spoil what a sound run with links left behind. */
export const LINK_DAMAGES: readonly LinkDamage[] = [
  {
    name: 'a link is lost',
    promise: EXISTS,
    what: 'a link that was promised is gone',
    sql: `delete from caudal.payment_links where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'the amount of a link changed',
    promise: EXISTS,
    what: 'a link is not what was promised',
    sql: `update caudal.payment_links set amount_in_cents = amount_in_cents + 1 where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'a repeat was told another link',
    promise: EXISTS,
    what: 'a repeat was told another link',
    client: (lines) => {
      const created = lines.find(({ kind }) => kind === 'link created');
      return created ? [...lines, { ...created, linkId: '00000000-0000-7000-8000-000000000000' }] : lines;
    },
  },
  {
    name: 'a link stands twice',
    promise: EXISTS,
    what: 'a link does not hold its reference',
    sql: copyRow('payment_links', 'true', { id: BASELINE('r.id') }),
  },
  {
    name: 'a reference is held for a link that is gone',
    promise: EXISTS,
    what: 'a reference is held by no link',
    sql: `delete from caudal.payment_links where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'a link comes from nowhere',
    promise: NOWHERE,
    what: 'a link that nobody asked for',
    sql: copyRow('payment_links', 'true', { id: BASELINE('r.id'), reference: `'nobody-asked'` }),
  },
  {
    name: 'an event tells of a link that is gone',
    promise: NOWHERE,
    what: 'an event of no link',
    sql: `delete from caudal.payment_links where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'an attempt that its payer was told of is gone',
    promise: 'an attempt that was begun is kept',
    what: 'it is not there',
    sql: `delete from caudal.payins where ${CANCELED}`,
  },
  {
    name: 'a closed link is open again',
    promise: 'a closed link stays closed',
    what: 'it can be paid',
    sql: `update caudal.payment_links set shuts_at = caudal.now() + interval '1 hour'`,
  },
  {
    name: 'the event of an expired link is gone',
    promise: TELLS,
    what: 'EXPIRED with 0 events and 1 final events',
    sql: `delete from caudal.events where ${ITS_EVENT('EXPIRED')}`,
  },
  {
    name: 'a link tells of both ends',
    promise: TELLS,
    what: 'COMPLETED with 2 events and 1 final events',
    sql: copyRow('events', `r.${ITS_EVENT('COMPLETED')}`, {
      id: BASELINE('r.id'),
      event: `'paymentlink.expired'`,
    }),
  },
  {
    name: 'a link tells of the other end',
    promise: TELLS,
    what: 'COMPLETED told as paymentlink.expired',
    sql: `update caudal.events set event = 'paymentlink.expired' where ${ITS_EVENT('COMPLETED')}`,
  },
  {
    name: 'the final event of a link is another',
    promise: TELLS,
    what: 'its final event is another',
    sql: `update caudal.final_events set event_id = ${BASELINE('event_id')} where resource_${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a completed link says expired',
    promise: COMPLETED,
    what: 'EXPIRED, though its amount came',
    sql: `update caudal.payment_links set status = 'EXPIRED', completed_at = null, payin_id = null where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a link is completed and nothing came',
    promise: COMPLETED,
    what: 'completed by 0 payins',
    sql: `update caudal.payment_links set status = 'COMPLETED', completed_at = updated_at, payin_id = id where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'a link is completed by another payin',
    promise: COMPLETED,
    what: 'completed by another payin',
    sql: `update caudal.payment_links set payin_id = id where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a link is completed by too little',
    promise: COMPLETED,
    what: 'completed by less than its amount',
    sql: `update caudal.payins set confirmed_amount_in_cents = 1 where ${A_PAYIN}`,
  },
  {
    name: 'a link has ended and an attempt is under way',
    promise: ATTEMPT,
    what: 'EXPIRED, and an attempt is under way',
    sql: REOPENED,
  },
  {
    name: 'two attempts are under way',
    promise: ATTEMPT,
    what: '2 attempts are under way',
    sql: `${REOPENED};
      update caudal.payment_links set status = 'PENDING' where id = (select payment_link_id from caudal.payins where status = 'PROCESSING');
      ${copyRow('payins', `payment_link_id is not null and r.status = 'PROCESSING'`, { id: BASELINE('r.id') })}`,
  },
  {
    name: 'an attempt is under way that its link does not know',
    promise: ATTEMPT,
    what: 'an attempt that its link does not know',
    sql: `${REOPENED};
      update caudal.payment_links set status = 'PENDING' where id = (select payment_link_id from caudal.payins where status = 'PROCESSING')`,
  },
  {
    name: 'a link waits for an attempt that has ended',
    promise: ATTEMPT,
    what: 'it waits for an attempt that has ended',
    sql: `update caudal.payment_links l set status = 'PENDING', open_payin_id = p.id
      from caudal.payins p where p.payment_link_id = l.id and p.${CANCELED}`,
  },
  {
    name: 'a link waits for what is no attempt',
    promise: ATTEMPT,
    what: 'it waits for what is no attempt',
    sql: `update caudal.payment_links set status = 'PENDING', open_payin_id = id where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'an ended link keeps its attempt',
    promise: ATTEMPT,
    what: 'COMPLETED, and an attempt is under way',
    sql: `${UNCHECKED} update caudal.payment_links set open_payin_id = payin_id where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'an attempt is of another amount than its link',
    promise: NOWHERE,
    what: 'an attempt at no link, or at another amount',
    sql: `update caudal.payins set amount_in_cents = amount_in_cents + 1 where ${CANCELED}`,
  },
  {
    name: 'a payin of a link has an event',
    promise: 'a payin of a link tells of nothing',
    what: 'it has an event',
    sql: `update caudal.events set event = 'payin.confirmed', resource = 'payin',
        resource_id = (select id from caudal.payins where ${A_PAYIN}) where ${ITS_EVENT('COMPLETED')}`,
  },
  {
    name: 'a payer authorized nothing',
    promise: 'what a payer types is authorized',
    what: 'details and authorization differ',
    sql: 'delete from caudal.payer_authorizations',
  },
  {
    name: 'the event of a link tells another time than the link',
    promise: 'the event of a link says what the interface says',
    what: 'it says something else',
    sql: `update caudal.payment_links set updated_at = updated_at + interval '1 second' where ${A_LINK('COMPLETED')}`,
  },
  {
    name: 'a link is open past its time',
    promise: 'everything comes to its end',
    what: 'a link is open past its time',
    sql: `update caudal.payment_links set status = 'PENDING' where ${A_LINK('EXPIRED')}`,
  },
  {
    name: 'too little went to the merchant',
    promise: SHARE,
    what: 'less than its link asks for went to the merchant',
    sql: `update caudal.ledger_transfers set credit_account = 'pending' where resource_id = (select id from caudal.payins where ${UNDERPAID})`,
  },
  {
    name: 'nobody is told of an underpaid link',
    promise: SUSPENSE,
    what: 'underpaid is not told as it is',
    sql: `delete from caudal.anomalies where kind = 'underpaid'`,
  },
  {
    name: 'nobody is told of an overpaid link',
    promise: SUSPENSE,
    what: 'no anomaly overpaid tells of it',
    sql: `delete from caudal.anomalies where kind = 'overpaid'`,
  },
  {
    name: 'what came beyond the amount is not booked',
    promise: BOOKS,
    what: 'booked with another amount',
    sql: `delete from caudal.ledger_transfers where cause_kind = 'payment_excess'`,
  },
  {
    name: 'what came beyond the amount went to the merchant',
    promise: SHARE,
    what: 'an excess went to pending',
    sql: `update caudal.ledger_transfers set credit_account = 'pending' where cause_kind = 'payment_excess'`,
  },
  {
    name: 'too little waits for settlement',
    promise: 'settlements add up',
    what: 'CONFIRMED with settlement PENDING_SETTLEMENT',
    sql: `update caudal.payins set settlement_status = 'PENDING_SETTLEMENT' where ${UNDERPAID}`,
  },
];
