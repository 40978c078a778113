import { queryRecords, queryRow } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

/** E-mails per receipt and day: more than a payer needs, too few to spam an address. */
const MAX_PER_DAY = 3;

const QUEUE = statement(
  'receipt-email.queue',
  `insert into caudal.receipt_emails (organization_id, id, payin_id, address, language, created_at, due_at)
   select $1, $2, $3, $4, $5, caudal.now(), caudal.now()
   where (
     select count(*) from caudal.receipt_emails e
     where e.organization_id = $1 and e.payin_id = $3 and e.created_at > caudal.now() - interval '1 day'
   ) < ${MAX_PER_DAY}
   returning id`,
);

export interface QueuedEmail {
  readonly organizationId: string;
  readonly id: string;
  readonly payinId: string;
  readonly encryptedAddress: Buffer;
  readonly language: 'es' | 'en';
}

/** @returns false if the receipt was sent too often today */
export async function queueEmail(tx: Tx, email: QueuedEmail): Promise<boolean> {
  const { organizationId, id, payinId, encryptedAddress, language } = email;
  return (await queryRow(tx, QUEUE, [organizationId, id, payinId, encryptedAddress, language])) !== null;
}

const DUE = 'e.due_at <= caudal.now() and (e.leased_until is null or e.leased_until < clock_timestamp())';

/** SQL condition: an e-mail is due and not leased. */
export const EMAILS_DUE = `exists (select from caudal.receipt_emails e where ${DUE})`;

// Longer than the timeouts of the SMTP connection together: a second process would send the e-mail again.
const LEASE_DUE = statement(
  'receipt-email.lease',
  `with due as (
     select e.organization_id, e.id from caudal.receipt_emails e where ${DUE}
     order by e.due_at limit $2 for update skip locked
   )
   update caudal.receipt_emails e set
     leased_until = clock_timestamp() + interval '2 minutes', lease_token = $1, attempts = e.attempts + 1
   from due join caudal.organizations o on o.id = due.organization_id
   where e.organization_id = due.organization_id and e.id = due.id
   returning e.organization_id, e.id, e.payin_id, e.address as encrypted_address, e.language, e.attempts,
     o.number as organization_number`,
);

export interface LeasedEmail extends QueuedEmail {
  readonly organizationNumber: number;
  /** This attempt included. */
  readonly attempts: number;
}

export function leaseEmails(tx: Tx, leaseToken: string, limit: number): Promise<LeasedEmail[]> {
  return queryRecords(tx, LEASE_DUE, [leaseToken, limit]);
}

const END = statement(
  'receipt-email.end',
  `update caudal.receipt_emails e set
     address = null, due_at = null, leased_until = null, lease_token = null,
     sent_at = case when $4::boolean then caudal.now() end
   where e.organization_id = $1 and e.id = $2 and e.lease_token = $3`,
);

/** Removes the address: the e-mail was sent, or will never be. */
export async function endEmail(
  tx: Tx,
  { organizationId, id }: Pick<LeasedEmail, 'organizationId' | 'id'>,
  leaseToken: string,
  sent: boolean,
): Promise<void> {
  await tx.query(END, [organizationId, id, leaseToken, sent]);
}

const POSTPONE = statement(
  'receipt-email.postpone',
  `update caudal.receipt_emails e set
     due_at = caudal.now() + make_interval(secs => $4::float8 / 1000), leased_until = null, lease_token = null
   where e.organization_id = $1 and e.id = $2 and e.lease_token = $3`,
);

export async function postponeEmail(
  tx: Tx,
  { organizationId, id }: Pick<LeasedEmail, 'organizationId' | 'id'>,
  leaseToken: string,
  delayMs: number,
): Promise<void> {
  await tx.query(POSTPONE, [organizationId, id, leaseToken, delayMs]);
}

const PURGE = statement(
  'receipt-email.purge',
  `delete from caudal.receipt_emails where ctid = any (array(
     select ctid from caudal.receipt_emails where created_at < caudal.now() - interval '30 days' order by created_at limit 5000))
   returning 1`,
);

/** @returns the number of deleted rows; call again until it is zero */
export async function purgeEmails(tx: Pick<Tx, 'query'>): Promise<number> {
  return (await tx.query(PURGE)).length;
}
