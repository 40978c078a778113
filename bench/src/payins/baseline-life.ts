import { OPERATOR_ORGANIZATION_ID } from '../../../server/src/organizations/organization.ts';
import { CREATE_PAYIN } from './baseline-creation.ts';

/** Average sizes of the encrypted columns that Caudal writes. */
export interface EncryptedSizes {
  readonly notice: number;
  readonly event: number;
  readonly answer: number;
}

/** Table of the baseline database that maps a pgbench client number to its organization. */
export const MERCHANTS_TABLE = 'public.bench_merchants';

/**
 * Baseline of a full lifecycle: every row that Caudal writes, in the fewest transactions with the same guarantees. A
 * transaction ends wherever data must be on disk before an external effect: the payin before its 201, the key
 * registration, the notice before its 200, the outcome before its webhook, the delivery result. Each client has its own
 * organization, so that clients do not wait for each other's balance. Left out, so that the ratio does not flatter
 * Caudal: leases, endpoint queues, marking the event as dispatched (its delivery is written with the outcome), and a
 * separate transaction for closing the key.
 */
export function baselineLife(sizes: EncryptedSizes): string {
  return LIFE.replaceAll(':operator', `'${OPERATOR_ORGANIZATION_ID}'::uuid`)
    .replaceAll(':notice_bytes', String(sizes.notice))
    .replaceAll(':event_bytes', String(sizes.event))
    .replaceAll(':answer_bytes', String(sizes.answer));
}

const CREATED = CREATE_PAYIN.replace(
  'caudal.now() as at)',
  `caudal.now() as at, organization_id as org from ${MERCHANTS_TABLE} where n = :client_id)`,
)
  .replaceAll(':org', 'org')
  .replace(/from id;\n$/, 'from id returning id as payin, breb_key as key, organization_id as org \\gset\n');

const LIFE = `${CREATED}
update caudal.breb_keys set registered_at = caudal.now(), register_due_at = null, attempts = 1, leased_until = null, lease_token = null
where key = :key;

insert into caudal.rail_notices (organization_id, id, rail, notice_id, reference, kind, execution_id, amount_in_cents, raw, about, received_at, task, due_at)
values (:operator, uuidv7(), 'BRE_B', gen_random_uuid()::text, :key, 'paid', gen_random_uuid()::text, 4980000,
  decode(repeat('ab', :notice_bytes), 'hex'), 'payin', caudal.now(), 'apply', caudal.now())
returning id as notice, execution_id as execution \\gset

with new as materialized (select uuidv7() as event, uuidv7() as transfer, caudal.now() as at),
moved as (
  update caudal.payins p set status = 'CONFIRMED', confirmed_amount_in_cents = 4980000, result_at = at, updated_at = at,
    settlement_status = 'PENDING_SETTLEMENT', payment_execution_id = :execution, rail_task = 'close', rail_due_at = at
  from new where p.organization_id = :org::uuid and p.id = :payin::uuid),
history as (
  insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at)
  select :org::uuid, :payin::uuid, 'PROCESSING', 'CONFIRMED', 'paid_on_notification', at from new),
final as (
  insert into caudal.final_events (organization_id, resource_id, event_id, event)
  select :org::uuid, :payin::uuid, event, 'payin.confirmed' from new),
applied as (
  update caudal.rail_notices set outcome = 'applied', task = null, due_at = null, attempts = 1
  where organization_id = :operator and id = :notice::uuid),
cause as (
  insert into caudal.ledger_causes (kind, id, organization_id, transfer_id)
  select 'payment', 'BRE_B:' || :execution, :org::uuid, transfer from new),
posted as (
  insert into caudal.ledger_transfers (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at)
  select :org::uuid, transfer, 'clearing_bre_b', 'pending', 4980000, 'payment', 'BRE_B:' || :execution, :payin::uuid, at from new),
delivery as (
  insert into caudal.webhook_deliveries (organization_id, endpoint_id, event_id, id, status, next_attempt_at, give_up_at, created_at)
  select :org::uuid, :org::uuid, event, gen_random_uuid(), 'PENDING', at, at + interval '30 days', at from new),
balance as (
  update caudal.ledger_balances b set balance_in_cents = b.balance_in_cents + 4980000, updated_at = at
  from new where b.organization_id = :org::uuid and b.account = 'pending')
insert into caudal.events (organization_id, id, event, resource, resource_id, payload, created_at)
select :org::uuid, event, 'payin.confirmed', 'payin', :payin::uuid, decode(repeat('ab', :event_bytes), 'hex'), at from new
returning id as event \\gset

with attempt as (
  insert into caudal.webhook_attempts (organization_id, endpoint_id, event_id, number, at, status_code, duration_ms, answer)
  values (:org::uuid, :org::uuid, :event::uuid, 1, caudal.now(), 200, 3, decode(repeat('ab', :answer_bytes), 'hex'))),
closed as (
  update caudal.payins set rail_task = 'poll', rail_due_at = caudal.now() + interval '30 seconds', rail_attempts = 1,
    payment_verified_at = caudal.now(), settles_at = result_at + interval '1 day'
  where organization_id = :org::uuid and id = :payin::uuid)
update caudal.webhook_deliveries set attempts = 1, status = 'DELIVERED', next_attempt_at = null, ended_at = caudal.now()
where organization_id = :org::uuid and endpoint_id = :org::uuid and event_id = :event::uuid;
`;
