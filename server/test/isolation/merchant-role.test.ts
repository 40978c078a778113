import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyLedger } from '../../src/flows/ledger/verify-ledger.system.ts';
import { resourceReference } from '../../src/kit/resource-reference.ts';
import { openTwoShops, type ProbedShop, type TwoShops } from './two-shops.ts';

let shops: TwoShops;
let a: ProbedShop;
let client: Client;

beforeAll(async () => {
  shops = await openTwoShops();
  ({ a } = shops);
  client = new Client({ connectionString: shops.caudal.config.database.batchUrl });
  await client.connect();
});
afterAll(async () => {
  await client?.end();
  await shops?.close();
});

/** `$ORG` and the names of `ids`, such as `$payout`, are placeholders; `$NEW` is a new id, `$OTHER` the other shop. */
function fill(sql: string): string {
  const fresh = shops.newId();
  const names = Object.keys(a.ids).toSorted((one, two) => two.length - one.length) as (keyof typeof a.ids)[];
  return names
    .reduce((text, name) => text.replaceAll(`$${name}`, `'${a.ids[name]}'`), sql)
    .replaceAll('$ORG', `'${a.organizationId}'`)
    .replaceAll('$OTHER', `'${shops.b.organizationId}'`)
    .replaceAll('$NEW', `'${fresh}'`)
    .replaceAll('$TRANSFER', `'${shops.newId()}'`);
}

/** Executes statements as the merchants' role of shop A, with the checks of the commit. @returns done, or the SQLSTATE */
async function attempt(sql: string): Promise<string> {
  const setting = `set local caudal.organization_ids = '{${a.organizationId}}'`;
  try {
    await client.query(`begin; ${setting}; ${fill(sql)}; set constraints all immediate`);
    return 'done';
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.query('rollback');
  }
}

const cause = (kind: string, id: string) =>
  `insert into caudal.ledger_causes (kind, id, organization_id, transfer_id) values ('${kind}', ${id}, $ORG, $TRANSFER)`;
const transfer = (kind: string, id: string, from: string, to: string, amount: number | string) =>
  `insert into caudal.ledger_transfers (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, resource_id, at)
   values ($ORG, $TRANSFER, '${from}', '${to}', ${amount}, '${kind}', ${id}, ${id}::uuid, now())`;
const move = (account: string, by: number | string) =>
  `update caudal.ledger_balances set balance_in_cents = balance_in_cents + ${by} where account = '${account}'`;
const posting = (kind: string, id: string, from: string, to: string, amount: number) =>
  [
    cause(kind, id),
    transfer(kind, id, from, to, amount),
    ...(from === 'available' || from === 'held' ? [move(from, -amount)] : []),
    ...(to === 'available' || to === 'held' ? [move(to, amount)] : []),
  ].join('; ');
const payout = (amount: number, status = 'PROCESSING', more = '') =>
  `insert into caudal.payouts (organization_id, id, amount_in_cents, currency, rail, status, reference, receiver, receiver_index, end_to_end_id,
     created_at, updated_at, rail_task, rail_due_at, error_code, result_at, anomaly_id, anomaly_organization_id)
   values ($ORG, $NEW, ${amount}, 'COP', 'BRE_B', '${status}', 'r', '', decode(repeat('00', 16), 'hex'), $NEW, now(), now(),
     ${status === 'PROCESSING' ? "'send', now(), null, null" : "null, null, case '" + status + "' when 'DECLINED' then 'INSUFFICIENT_FUNDS' end, now()"}, ${more || 'null, null'})`;
const payin = (status: string) =>
  `insert into caudal.payins (organization_id, id, amount_in_cents, currency, rail, status, reference, breb_key_type, breb_key, created_at, updated_at, expires_at)
   values ($ORG, $NEW, 1000, 'COP', 'BRE_B', '${status}', 'r', 'SINGLE_USE', '@NEW', now(), now(), now())`;
const notice = (reference: string, values: Readonly<Record<string, string>> = {}) => {
  const row = {
    organization_id: '$ORG',
    id: '$NEW',
    rail: "'PSE'",
    about: "'payin'",
    reference: `'${reference}'`,
    kind: "'refused'",
    error_code: "'BANK_REJECTED'",
    received_at: 'now()',
    task: "'apply'",
    due_at: 'now()',
    ...values,
  };
  return `insert into caudal.rail_notices (${Object.keys(row).join(', ')}) values (${Object.values(row).join(', ')})`;
};
const event = (name: string, resource: string, id: string) =>
  `insert into caudal.events (organization_id, id, event, resource, resource_id, payload, created_at) values ($ORG, $NEW, '${name}', '${resource}', ${id}, '', now())`;
const finalEvent = (name: string, id: string) =>
  `insert into caudal.final_events (organization_id, resource_id, event_id, event) values ($ORG, ${id}, $NEW, '${name}')`;
const set = (table: string, id: string, assignment: string) =>
  `update caudal.${table} set ${assignment} where organization_id = $ORG and id = $${id}`;

const ATTACKS: Readonly<Record<string, readonly string[]>> = {
  'mint money': [
    posting('deposit', "$ORG || ':x'", 'treasury', 'available', 5_000_000).replace(
      "$ORG || ':x'::uuid",
      'null',
    ),
    cause('deposit', "'x'"),
    `insert into caudal.deposits (organization_id, id, amount_in_cents, reference, at) values ($ORG, $NEW, 1, 'x', now())`,
    move('available', 5_000_000),
    move('pending', 5_000_000),
    `${move('available', 1000)}; ${move('held', -1000)}`,
    ...['payment', 'settlement', 'anomaly', 'link_parts', 'payout', 'execution', 'reversal'].map((kind) =>
      cause(kind, '$NEW'),
    ),
    posting('payout_hold', '$NEW', 'treasury', 'available', 1000),
    posting('payout_hold', '$NEW', 'held', 'available', 1000),
    posting('payout_hold', '$NEW', 'suspense', 'held', 1000),
    `${cause('payout_hold', '$NEW')}; ${transfer('payout_hold', '$NEW', 'available', 'held', 1000)}; ${move('available', 1)}; ${move('held', 1000)}`,
    `${cause('payout_hold', '$NEW')}; ${transfer('payout_hold', '$NEW', 'available', 'held', 1000)}`,
    `insert into caudal.ledger_balances (organization_id, account, updated_at) values ($ORG, 'held', now())`,
    'delete from caudal.ledger_balances',
    `insert into caudal.ledger_causes (kind, id, organization_id, transfer_id, written_by) values ('payout_hold', $NEW, $ORG, $NEW, 'caudal_system')`,
    'insert into caudal.settlements (organization_id, id, amount_in_cents, payins, at) values ($ORG, $NEW, 1, 1, now())',
    'insert into caudal.merchant_changes values (pg_current_xact_id(), array[$ORG]::uuid[], array[$ORG], array[1])',
    'delete from caudal.merchant_changes',
  ],
  'release money of a payout that is not canceled': [
    posting('payout_release', '$payout', 'held', 'available', 1000),
    posting('payout_release', '$sentPayout', 'held', 'available', 1000),
    posting('payout_release', '$NEW', 'held', 'available', 1000),
    posting('payout_release', '$canceledPayout', 'held', 'available', 2000),
    // Without its cause, the transfer could be repeated.
    `${transfer('payout_release', '$canceledPayout', 'held', 'available', 1000)}; ${move('held', -1000)}; ${move('available', 1000)}`,
  ],
  'create or change a payout': [
    payout(1000),
    `${payout(1000)}; ${posting('payout_hold', '$NEW', 'available', 'held', 999)}`,
    payout(1000, 'CONFIRMED'),
    payout(1000, 'DECLINED', '$anomaly, $ORG'),
    set('payouts', 'payout', "status = 'CONFIRMED', result_at = now(), rail_task = null, rail_due_at = null"),
    set('payouts', 'payout', 'lease_token = null'),
    set(
      'payouts',
      'sentPayout',
      "status = 'CANCELED', result_at = now(), rail_task = null, rail_due_at = null",
    ),
    set(
      'payouts',
      'canceledPayout',
      "status = 'PROCESSING', result_at = null, rail_task = 'send', rail_due_at = now()",
    ),
    ...[
      'amount_in_cents = 1',
      "receiver = ''",
      "end_to_end_id = 'x'",
      "reference = 'x'",
      'organization_id = $OTHER',
      'attempts = 0',
      'unsent_attempts = attempts',
      "execution_id = 'x'",
      'created_at = now()',
    ].map((assignment) => set('payouts', 'payout', assignment)),
    `insert into caudal.payout_history (organization_id, payout_id, from_status, to_status, cause, at) values ($ORG, $payout, 'PROCESSING', 'CONFIRMED', 'x', now())`,
    'insert into caudal.payout_attempts (organization_id, payout_id, number, at) values ($ORG, $payout, 1, now())',
  ],
  'confirm, settle or change a payin': [
    payin('CONFIRMED'),
    payin('PENDING'),
    set('payins', 'payin', "status = 'CONFIRMED'"),
    set('payins', 'payin', "status = 'CANCELED'"),
    set('payins', 'psePayin', "status = 'PROCESSING'"),
    ...[
      'confirmed_amount_in_cents = 1',
      "settlement_status = 'SETTLED'",
      'settles_at = now()',
      'payment_verified_at = now()',
      'result_at = now()',
      'amount_in_cents = 1',
      "reference = 'x'",
      'organization_id = $OTHER',
      'payment_link_id = $link',
      "breb_key = '@X'",
      'created_at = now()',
      "expires_at = expires_at + interval '1 day'",
    ].map((assignment) => set('payins', 'payin', assignment)),
    set('payins', 'openedPayin', "pse_url = 'https://evil.example'"),
    set('payins', 'openedPayin', "customer = 'x'"),
    `insert into caudal.payin_history (organization_id, payin_id, from_status, to_status, cause, at) values ($ORG, $payin, 'PROCESSING', 'CONFIRMED', 'x', now())`,
    'delete from caudal.payins',
    'update caudal.breb_keys set registered_at = now(), register_due_at = null',
  ],
  'forge a notice': [
    `$OWN_NOTICE kind = 'paid'`,
    `$OWN_NOTICE rail = 'BRE_B'`,
    `$OWN_NOTICE about = 'payout'`,
    '$FOREIGN_NOTICE',
    'update caudal.rail_notices set task = null',
  ],
  'change a payment link': [
    `insert into caudal.payment_links (organization_id, id, amount_in_cents, currency, reference, callback_url, status, created_at, updated_at, expires_at, closes_at)
     values ($ORG, $NEW, 1, 'COP', 'r', 'https://shop.example', 'EXPIRED', now(), now(), now(), now())`,
    ...[
      "status = 'COMPLETED', completed_at = now(), payin_id = $payin",
      'paid_in_cents = 1000',
      'amount_in_cents = 1',
      "reference = 'x'",
      "callback_url = 'https://evil.example'",
      "expires_at = now() + interval '1 day'",
      "closes_at = closes_at + interval '1 day'",
      'open_breb_payin_id = null',
      'open_breb_payin_id = $psePayin',
    ].map((assignment) => set('payment_links', 'link', assignment)),
  ],
  'claim an outcome in an event': [
    event('payin.confirmed', 'payin', '$payin'),
    event('payout.confirmed', 'payout', '$sentPayout'),
    event('payout.canceled', 'payout', '$payout'),
    event('paymentlink.completed', 'paymentlink', '$link'),
    event('payin.confirmed', 'webhook', '$endpoint'),
    finalEvent('payin.confirmed', '$payin'),
    finalEvent('payout.confirmed', '$sentPayout'),
    finalEvent('payout.declined', '$payout'),
    'update caudal.events set undispatched = true',
    "update caudal.webhook_deliveries set status = 'DELIVERED', next_attempt_at = null, ended_at = now()",
    'update caudal.webhook_deliveries set attempts = 9',
    'insert into caudal.webhook_attempts (organization_id, endpoint_id, event_id, number, at, duration_ms) values ($ORG, $endpoint, $event, 2, now(), 1)',
  ],
  'resolve an anomaly': [
    set('anomalies', 'anomaly', "resolved_at = now(), resolution = 'credit', resolved_by = 'x'"),
    set('anomalies', 'anomaly', 'amount_in_cents = 5000000'),
    set('anomalies', 'acceptedAnomaly', 'accepted_at = null, accepted_by = null'),
    set('anomalies', 'acceptedAnomaly', "accepted_by = 'x'"),
    `insert into caudal.anomalies (organization_id, id, rail, kind, reference, noticed_at, once) values ($ORG, $NEW, 'BRE_B', 'unmatched', 'r', now(), 'x')`,
  ],
  'act for another organization': [
    `insert into caudal.idempotency_keys (organization_id, key_hash, body_hash, resource_id, created_at) values ($OTHER, decode(repeat('01', 16), 'hex'), decode(repeat('01', 16), 'hex'), $NEW, now())`,
    `insert into caudal.resource_references (organization_id, kind, reference, resource_id) values ($OTHER, 'payin', 'x', $NEW)`,
    'update caudal.idempotency_keys set resource_id = $NEW',
    'update caudal.resource_references set resource_id = $NEW',
    `insert into caudal.ledger_causes (kind, id, organization_id, transfer_id) values ('payout_hold', $NEW, $OTHER, $NEW)`,
  ],
};

function expand(sql: string): string {
  if (sql === '$FOREIGN_NOTICE')
    return notice(resourceReference(shops.b.ids.psePayin, shops.b.organizationNumber));
  const [, column, value] = /^\$OWN_NOTICE (\w+) = (.*)$/.exec(sql) ?? [];
  if (column === undefined || value === undefined) return sql;
  const paid = value === "'paid'" ? { execution_id: "'x'", amount_in_cents: '1', error_code: 'null' } : {};
  return notice(resourceReference(a.ids.psePayin, a.organizationNumber), { [column]: value, ...paid });
}

describe.each(Object.entries(ATTACKS))("the merchants' role cannot %s", (_, statements) => {
  it.each(statements)('%s', async (sql) => {
    expect(await attempt(expand(sql))).toBe('42501');
  });
});

describe("the merchants' role can still", () => {
  it.each([
    [
      'create a payout with its hold',
      `${payout(1000)}; ${posting('payout_hold', '$NEW', 'available', 'held', 1000)}`,
    ],
    ['decline a payout', `${payout(1000, 'DECLINED')}; ${finalEvent('payout.declined', '$NEW')}`],
    [
      'cancel a payout and release its hold',
      `${set('payouts', 'payout', "status = 'CANCELED', result_at = now(), rail_task = null, rail_due_at = null")};
       ${finalEvent('payout.canceled', '$payout')}; ${posting('payout_release', '$payout', 'held', 'available', 1000)}`,
    ],
    ['create a payin', payin('PROCESSING')],
    [
      'open the bank page of a payin',
      set(
        'payins',
        'psePayin',
        "status = 'PROCESSING', pse_url = 'https://bank.example', pse_url_at = now(), customer = 'x'",
      ),
    ],
    ['close a payin early', set('payins', 'payin', "expires_at = now(), rail_task = 'close'")],
    ['close a link early', set('payment_links', 'link', 'closes_at = now()')],
    [
      'accept an anomaly',
      set('anomalies', 'anomaly', "accepted_at = now(), accepted_by = 'AAAAAAAAAAAAAAAA'"),
    ],
  ])('%s', async (_, sql) => {
    expect(await attempt(sql)).toBe('done');
  });

  it('store the rejection of its own order', async () => {
    expect(await attempt(notice(resourceReference(a.ids.psePayin, a.organizationNumber)))).toBe('done');
  });
});

it('a reservation can be released only by the request that made it', async () => {
  const age = "set created_at = created_at - interval '1 hour'";
  await shops.database.query(`update caudal.idempotency_keys ${age} where organization_id = $1`, [
    a.organizationId,
  ]);
  await client.query(`begin; set local caudal.organization_ids = '{${a.organizationId}}'`);
  const { rowCount } = await client.query('delete from caudal.idempotency_keys');
  await client.query('rollback');
  expect(rowCount).toBe(0);
});

describe('ledger verify', () => {
  const broken = async () =>
    (await verifyLedger(shops.caudal.deps)).broken.map(({ table, expected, found }) => [
      table,
      expected,
      found,
    ]);

  it("reports a cause that the merchants' role may not write, and a deposit without a record", async () => {
    const before = await broken();
    const id = shops.newId();
    await shops.database.query(
      `with cause as (
         insert into caudal.ledger_causes (kind, id, organization_id, transfer_id, written_by)
         values ('deposit', 'forged', '${a.organizationId}', '${id}', 'caudal_batch')
       )
       insert into caudal.ledger_transfers (organization_id, id, debit_account, credit_account, amount_in_cents, cause_kind, cause_id, at)
       values ('${a.organizationId}', '${id}', 'treasury', 'available', 5000000, 'deposit', 'forged', now())`,
    );
    await shops.database.query(
      `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 5000000 where account = 'available' and organization_id = $1`,
      [a.organizationId],
    );
    const found = (await broken()).filter((row) => !before.some((known) => known.join() === row.join()));
    expect(found).toEqual([
      ['ledger_causes', 'written by the system role', 'written by caudal_batch'],
      ['ledger_transfers', 'the record of a deposit', 'none'],
    ]);
  });
});
