import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../harness/api-client.ts';
import { linkRequest, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const INSUFFICIENT_PRIVILEGE = '42501';
const MERCHANTS = ['readUrl', 'batchUrl'] as const;

let stack: Stack;
let caudal: InProcess;
/** A owns links and an attempt with its authorization; B tries to read and change them. */
let a: { id: string; api: ApiClient };
let b: { id: string; api: ApiClient };
let linkId: string;
const connections: Client[] = [];

// No worker: A's rows stay as created.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  const shop = async () => {
    const { principal, apiKey } = await caudal.newOrganization();
    return { id: principal.organization.id, api: stack.api.as(apiKey) };
  };
  [a, b] = [await shop(), await shop()];
  await a.api.post('/payment-links', linkRequest({ inlineCustomer: CUSTOMER }));
  const { body } = await a.api.post('/payment-links', linkRequest());
  linkId = String(body['paymentLinkId']);
  await new PayerBrowser().post(`${String(body['paymentLinkUrl'])}/begin`, {
    ...PAYER_DETAILS,
    method: 'PSE',
    bank: 'CO_NEQUI',
    personType: 'INDIVIDUAL',
  });
});
afterAll(async () => {
  await Promise.all(connections.map((client) => client.end()));
  await caudal?.close();
  await stack?.stop();
});

async function connectAs(role: (typeof MERCHANTS)[number] | 'systemUrl'): Promise<Client> {
  const client = new Client({ connectionString: caudal.config.database[role] });
  await client.connect();
  connections.push(client);
  return client;
}

/** Number of affected rows, or the SQLSTATE of the rejection; always rolled back. */
async function execute(client: Client, set: string | null, sql: string): Promise<number | string | null> {
  await client.query('begin');
  try {
    if (set !== null) await client.query(set);
    return (await client.query(sql)).rowCount;
  } catch (error) {
    return String((error as { code?: unknown }).code);
  } finally {
    await client.query('rollback');
  }
}

const readSetting = (shop: { id: string }) => `set local caudal.organization_id = '${shop.id}'`;
const batchSetting = (shop: { id: string }) => `set local caudal.organization_ids = '{${shop.id}}'`;

describe('database isolation of links', () => {
  it("shows A's links only to A, for readers and writers", async () => {
    const sql = `select from caudal.payment_links where organization_id = '${a.id}'`;
    for (const [role, setting] of [
      ['readUrl', readSetting],
      ['batchUrl', batchSetting],
    ] as const) {
      const client = await connectAs(role);
      expect([role, await execute(client, setting(a), sql)]).toEqual([role, 2]);
      expect([role, await execute(client, setting(b), sql)]).toEqual([role, 0]);
      expect([role, await execute(client, null, sql)]).toEqual([role, 0]);
    }
  });

  it('lets caudal_batch close and reserve links of its batch, and change nothing else', async () => {
    const client = await connectAs('batchUrl');
    for (const write of [
      'update caudal.payment_links set closes_at = least(closes_at, now())',
      `update caudal.payment_links set open_breb_payin_id = open_pse_payin_id where id = '${linkId}'`,
    ]) {
      const affected = write.includes('where') ? 1 : 2;
      expect([write, await execute(client, batchSetting(a), write)]).toEqual([write, affected]);
      expect([write, await execute(client, batchSetting(b), write)]).toEqual([write, 0]);
    }
    for (const column of [
      "status = 'COMPLETED'",
      'amount_in_cents = 1',
      "callback_url = 'https://evil.example/'",
      'completed_at = now()',
      'payin_id = open_breb_payin_id',
      'paid_in_cents = 1',
      "customer = ''",
      `organization_id = '${b.id}'`,
    ]) {
      const write = `update caudal.payment_links set ${column}`;
      expect([write, await execute(client, batchSetting(a), write)]).toEqual([write, INSUFFICIENT_PRIVILEGE]);
    }
    const insert = `insert into caudal.payment_links (organization_id, id, amount_in_cents, currency, reference, callback_url, status,
      created_at, updated_at, expires_at, closes_at) values ('${a.id}', '${linkId.slice(0, -1)}${linkId.endsWith('0') ? '1' : '0'}', 1, 'COP', 'x', 'x', 'PENDING', now(), now(), now(), now())`;
    expect(await execute(client, batchSetting(a), insert)).toBe(1);
    expect(await execute(client, batchSetting(b), insert)).toBe(INSUFFICIENT_PRIVILEGE);
  });

  it('lets caudal_system end links but change neither amount nor callback URL', async () => {
    const client = await connectAs('systemUrl');
    const end = `update caudal.payment_links set status = 'EXPIRED', open_breb_payin_id = null, open_pse_payin_id = null, updated_at = now() where id = '${linkId}'`;
    expect(await execute(client, null, end)).toBe(1);
    for (const column of [
      'amount_in_cents = 1',
      "callback_url = 'x'",
      'expires_at = now()',
      "reference = 'x'",
    ])
      expect(await execute(client, null, `update caudal.payment_links set ${column}`)).toBe(
        INSUFFICIENT_PRIVILEGE,
      );
  });

  it('lets no role delete a link, nor read, change or delete a payer authorization', async () => {
    expect(await stack.database.query('select payin_id from caudal.payer_authorizations')).toHaveLength(1);
    for (const role of [...MERCHANTS, 'systemUrl'] as const) {
      const client = await connectAs(role);
      const set = role === 'readUrl' ? readSetting(a) : role === 'batchUrl' ? batchSetting(a) : null;
      for (const write of [
        'delete from caudal.payment_links',
        'delete from caudal.payer_authorizations',
        "update caudal.payer_authorizations set text_id = 'x'",
        "update caudal.payer_authorizations set evidence = ''",
      ])
        expect([role, write, await execute(client, set, write)]).toEqual([
          role,
          write,
          INSUFFICIENT_PRIVILEGE,
        ]);
      if (role === 'systemUrl') continue;
      expect(await execute(client, set, 'select from caudal.payer_authorizations')).toBe(
        INSUFFICIENT_PRIVILEGE,
      );
    }
    const batch = await connectAs('batchUrl');
    const forged = `insert into caudal.payer_authorizations values ('${a.id}', '${linkId}', 'x', now(), '')`;
    expect(await execute(batch, batchSetting(b), forged)).toBe(INSUFFICIENT_PRIVILEGE);
    expect(await execute(batch, batchSetting(a), forged)).toBe(1);
  });
});

describe('the constraints of a link', () => {
  it.each([
    ["status = 'COMPLETED'", 'a completed link without its payin'],
    ["completed_at = now(), status = 'COMPLETED'", 'a completed link without the payin that completed it'],
    ["status = 'EXPIRED'", 'an expired link with an open attempt'],
    [
      `payin_id = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10'`,
      'a link that is not completed, with a completing payin',
    ],
    ['amount_in_cents = 0', 'nothing to pay'],
    ["pse_bank = 'CO_NEQUI'", 'a bank without PSE'],
  ])('reject %s: %s', async (column) => {
    await expect(
      stack.database.query(`update caudal.payment_links set ${column} where id = '${linkId}'`),
    ).rejects.toMatchObject({ code: '23514' });
  });
});

describe('the data in the link tables', () => {
  it('is encrypted: a dump shows no payer data and no IP address', async () => {
    // The address of the payer is also the address of the simulated bank page.
    const [row] = await stack.database.query<{ text: string }>(
      `select (select string_agg(l::text || coalesce(encode(customer, 'escape'), ''), '') from caudal.payment_links l)
         || (select string_agg(z::text || encode(evidence, 'escape'), '') from caudal.payer_authorizations z)
         || (select string_agg(replace(p::text, coalesce(p.pse_url, ' '), '') || coalesce(encode(customer, 'escape'), ''), '') from caudal.payins p) as text`,
    );
    expect(row?.text.length).toBeGreaterThan(500);
    // None is so short that random bytes could contain it.
    for (const secret of [
      'Ana Mar',
      'Rojas',
      '1020304050',
      'Luisa',
      '52123456',
      '3105550199',
      'luisa@',
      '127.0.0.1',
    ])
      expect([secret, row?.text.includes(secret)]).toEqual([secret, false]);
  });
});
