-- schema: expand
-- Rights of the persons whose data is stored: a blind index of customers, legal holds, and the erasure of personal data.

-- One table per step: a transaction that waits for the second lock would block the writers of the first table meanwhile.

-- ── Blind index of customers ─────────────────────────────────────────────────────────────────────────────────────────

-- Two keyed hashes of eight bytes: of the customer's document, then of the e-mail address. Null in rows of earlier versions
-- and in rows without a customer. It has no B-tree: random keys would cost each payin a page image in the log after every
-- checkpoint, and a person's request may take minutes. `people find` filters ranges of the primary key by this column.
-- `erased_at`: when the personal data of the row was erased. Only caudal.erase_personal_data sets it.

-- step
alter table caudal.payins add column customer_index bytea;
alter table caudal.payins add column erased_at timestamptz;
alter table caudal.payins add constraint payin_customer_index check (length(customer_index) = 16) not valid;
grant insert (customer_index), update (customer_index) on caudal.payins to caudal_batch;
-- The index is set once, with the payer.
create trigger merchants_set_index_once before update on caudal.payins for each row
  when (current_user = 'caudal_batch' and old.customer_index is not null and new.customer_index is distinct from old.customer_index)
  execute function caudal.reject_merchant_change('payins');
-- step
alter table caudal.payouts add column customer_index bytea;
alter table caudal.payouts add column erased_at timestamptz;
alter table caudal.payouts add constraint payout_customer_index check (length(customer_index) = 16) not valid;
grant insert (customer_index) on caudal.payouts to caudal_batch, caudal_system;
-- step
alter table caudal.payment_links add column customer_index bytea;
alter table caudal.payment_links add column erased_at timestamptz;
alter table caudal.payment_links add constraint link_customer_index check (length(customer_index) = 16) not valid;
grant insert (customer_index) on caudal.payment_links to caudal_batch;
-- step
-- Null: erased. The text that the payer agreed to and the time remain.
alter table caudal.payer_authorizations alter column evidence drop not null;

-- ── Legal holds ──────────────────────────────────────────────────────────────────────────────────────────────────────

-- step
-- Persons whose data must not be erased, such as parties to a lawsuit. The organization is the operator's, whose data key
-- encrypts the identifier. A released hold is deleted; the audit log keeps who placed and released it.
create table caudal.person_holds (
  organization_id uuid not null references caudal.organizations,
  id              uuid not null,
  -- Keyed hash of the identifier, as in the audit log.
  person          bytea not null constraint person_hold_hash check (length(person) = 16),
  identifier      bytea not null,
  reason          text not null constraint person_hold_reason check (length(reason) between 1 and 500),
  placed_by       text not null constraint person_hold_author check (length(placed_by) between 1 and 120),
  placed_at       timestamptz not null default caudal.now(),
  primary key (organization_id, id),
  constraint person_hold_once unique (organization_id, person)
);
call caudal.protect('caudal.person_holds');
grant select, insert (organization_id, id, person, identifier, reason, placed_by), delete on caudal.person_holds to caudal_system;

-- As in 0016, with the identifiers of holds.
create or replace function caudal.reencrypt(target text, target_column text, organization uuid, key text[], was bytea, becomes bytea) returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  key_columns text[];
  condition text;
  matches text;
  replaced integer;
begin
  select t.key_columns, t.condition into key_columns, condition
  from (values
    ('payins', '{customer,metadata}'::text[], '{id}'::text[], 'true'),
    ('payer_authorizations', '{evidence}', '{payin_id}', 'true'),
    ('rail_notices', '{raw}', '{id}', 'true'),
    ('payouts', '{customer,receiver,metadata}', '{id}', $c$t.status <> 'PROCESSING'$c$),
    ('payment_links', '{customer,metadata}', '{id}', 'true'),
    ('events', '{payload}', '{id}', 'true'),
    ('webhook_endpoints', '{address,static_header,secret,previous_secret,older_secret,created_as}', '{id}', 'true'),
    ('webhook_attempts', '{answer}', '{endpoint_id,event_id,number}', 'true'),
    ('receipt_emails', '{address}', '{id}', 'true'),
    ('person_holds', '{identifier}', '{id}', 'true')
  ) as t (name, columns, key_columns, condition)
  where t.name = target and target_column = any (t.columns);
  if not found
    or caudal.data_key_number(becomes) is null
    or caudal.data_key_number(becomes) <= caudal.data_key_number(was)
    or length(becomes) - 3 <> length(was) - (case get_byte(was, 0) when 1 then 1 else 3 end)
  then
    raise exception '%.% may only be encrypted again with a newer key', target, target_column using errcode = 'insufficient_privilege';
  end if;
  select string_agg(format('t.%I = ($3)[%s]::%s', c.name, c.position, case c.name when 'number' then 'smallint' else 'uuid' end), ' and ')
  into matches from unnest(key_columns) with ordinality as c (name, position);
  perform set_config('caudal.reencryption', 'on', true);
  execute format('update caudal.%I t set %I = $1 where t.organization_id = $2 and %s and t.%I = $4 and %s',
    target, target_column, matches, target_column, condition)
  using becomes, organization, key, was;
  get diagnostics replaced = row_count;
  perform set_config('caudal.reencryption', '', true);
  return replaced > 0;
end $$;

-- ── Erasure ──────────────────────────────────────────────────────────────────────────────────────────────────────────

-- Why the personal data of a payin, payout or payment link may not be erased yet: the resource is in progress, or it moved money,
-- at which time the legal retention starts. An open anomaly counts as the end of time. No row: there is no such resource.
create function caudal.personal_data_state(resource_kind text, owner uuid, target uuid)
  returns table (in_progress boolean, money_at timestamptz, erased_at timestamptz)
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  -- An unpaid payin is polled once more some minutes after its end.
  select p.status in ('PENDING', 'PROCESSING') or (p.rail_task is not null and p.status <> 'CONFIRMED'),
    case when p.status = 'CONFIRMED' or num_nonnulls(p.confirmed_amount_in_cents, p.payment_execution_id, p.settlement_status, a.at) > 0
      then greatest(p.updated_at, p.result_at, a.at) end,
    p.erased_at
  from caudal.payins p
  cross join lateral (
    select max(coalesce(x.resolved_at, 'infinity')) as at from caudal.anomalies x
    where x.organization_id = p.organization_id and x.payin_id = p.id) as a
  where resource_kind = 'payin' and p.organization_id = owner and p.id = target
  union all
  select p.status = 'PROCESSING' or p.rail_task is not null,
    case when p.status = 'CONFIRMED' or num_nonnulls(p.execution_id, p.anomaly_id, a.at) > 0
        -- A hold and its release are transfers of the ledger, which the payout explains.
        or exists (select from caudal.ledger_causes c where c.kind = 'payout_hold' and c.id = p.id::text)
      then greatest(p.updated_at, p.result_at, a.at) end,
    p.erased_at
  from caudal.payouts p
  cross join lateral (
    select max(coalesce(x.resolved_at, 'infinity')) as at from caudal.anomalies x
    where x.organization_id = p.organization_id and x.payout_id = p.id) as a
  where resource_kind = 'payout' and p.organization_id = owner and p.id = target
  union all
  select l.status = 'PENDING',
    case when l.status = 'COMPLETED' or l.paid_in_cents > 0 then greatest(l.updated_at, l.completed_at) end,
    l.erased_at
  from caudal.payment_links l
  where resource_kind = 'payment_link' and l.organization_id = owner and l.id = target
$$;
revoke execute on function caudal.personal_data_state(text, uuid, uuid) from public;
grant execute on function caudal.personal_data_state(text, uuid, uuid) to caudal_system;

-- Erases the personal data of one resource, and nothing else: no role has the right to update these columns for it. The state of
-- the resource is read again under its lock. The caller matches legal holds, whose identifiers the database cannot decrypt, and
-- passes the final event without personal data (the database cannot decrypt it either) and the receiver that erased payouts show.
-- @returns erased, in_progress, retained, not_found, or changed: the event is no longer the one that the caller read
create function caudal.erase_personal_data(
  resource_kind text, owner uuid, target uuid, legal_retention interval, erased_receiver bytea,
  final_event uuid, event_was bytea, event_becomes bytea, rail_reference text, notices uuid[]
) returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  nothing constant bytea := decode(repeat('00', 16), 'hex');
  state record;
  outcome text;
begin
  if legal_retention is null or legal_retention < interval '1 year' then
    raise exception 'the legal retention must be at least one year' using errcode = 'insufficient_privilege';
  end if;
  perform set_config('caudal.erasure', 'on', true);
  if resource_kind = 'payin' then
    perform from caudal.payins p where p.organization_id = owner and p.id = target for update;
  elsif resource_kind = 'payout' then
    perform from caudal.payouts p where p.organization_id = owner and p.id = target for update;
  elsif resource_kind = 'payment_link' then
    perform from caudal.payment_links l where l.organization_id = owner and l.id = target for update;
  else
    raise exception '% has no personal data to erase', resource_kind using errcode = 'insufficient_privilege';
  end if;
  select s.in_progress, s.money_at into state from caudal.personal_data_state(resource_kind, owner, target) s;
  outcome := case
    when not found then 'not_found'
    when state.in_progress then 'in_progress'
    when state.money_at + legal_retention > caudal.now() then 'retained'
    else 'erased' end;

  if outcome = 'erased' and final_event is not null then
    update caudal.events e set payload = event_becomes
    where e.organization_id = owner and e.id = final_event and e.resource_id = target and e.payload = event_was;
    if not found then
      outcome := 'changed';
    end if;
  end if;

  if outcome = 'erased' then
    update caudal.webhook_attempts t set answer = null
    where t.organization_id = owner and t.event_id = final_event and t.answer is not null
      and t.endpoint_id = any (array(select w.id from caudal.webhook_endpoints w where w.organization_id = owner));
    -- The raw notifications of the resource. What a rail sent belongs to the operator's organization.
    update caudal.rail_notices n set raw = null
    where n.id = any (notices) and n.reference = rail_reference and n.due_at is null
      and n.organization_id = any (array(select o.id from caudal.organizations o where o.is_operator or o.id = owner))
      and (n.reference in (
          select p.breb_key from caudal.payins p where resource_kind = 'payin' and p.organization_id = owner and p.id = target
          union all
          select p.end_to_end_id from caudal.payouts p where resource_kind = 'payout' and p.organization_id = owner and p.id = target)
        or (resource_kind = 'payin' and n.rail = 'PSE' and n.about = 'payin'));
    if resource_kind = 'payin' then
      update caudal.payins p set customer = null, customer_index = null, metadata = null, erased_at = caudal.now()
      where p.organization_id = owner and p.id = target;
      update caudal.payer_authorizations t set evidence = null where t.organization_id = owner and t.payin_id = target;
      delete from caudal.receipt_emails m where m.organization_id = owner and m.payin_id = target;
    elsif resource_kind = 'payout' then
      update caudal.payouts p set customer = null, customer_index = null, metadata = null, receiver = erased_receiver,
        receiver_index = nothing, holder = case when p.holder is not null then nothing end, erased_at = caudal.now()
      where p.organization_id = owner and p.id = target;
    else
      update caudal.payment_links l set customer = null, customer_index = null, metadata = null, description = null,
        erased_at = caudal.now()
      where l.organization_id = owner and l.id = target;
    end if;
  end if;
  perform set_config('caudal.erasure', '', true);
  return outcome;
end $$;
revoke execute on function caudal.erase_personal_data(text, uuid, uuid, interval, bytea, uuid, bytea, bytea, text, uuid[]) from public;
grant execute on function caudal.erase_personal_data(text, uuid, uuid, interval, bytea, uuid, bytea, bytea, text, uuid[]) to caudal_system;

-- ── Row-level security ───────────────────────────────────────────────────────────────────────────────────────────────

-- The functions run as the owner of the schema, to whom forced row-level security shows no row outside of them.

-- step
create policy reencryption on caudal.person_holds to current_user using (current_setting('caudal.reencryption', true) = 'on');
-- step
create policy erasure on caudal.payins to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.payer_authorizations to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.rail_notices to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.payouts to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.payment_links to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.events to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.webhook_attempts to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.receipt_emails to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.webhook_endpoints for select to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.organizations for select to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.anomalies for select to current_user using (current_setting('caudal.erasure', true) = 'on');
-- step
create policy erasure on caudal.ledger_causes for select to current_user using (current_setting('caudal.erasure', true) = 'on');
