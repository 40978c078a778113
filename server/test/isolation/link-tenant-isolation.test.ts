import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiClient } from '../harness/api-client.ts';
import { DETAILS, openLink } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const REFUSED = '42501';
const MERCHANTS = ['readUrl', 'batchUrl'] as const;

let stack: Stack;
let caudal: InProcess;
/** A has links and an attempt with its authorization; B wants to see and to change them. */
let a: { id: string; api: ApiClient };
let b: { id: string; api: ApiClient };
let linkId: string;
const connections: Client[] = [];

// No worker: what A has stays as it was created.
beforeAll(async () => {
  stack = await startStack();
  caudal = await composeInProcess(stack.settings);
  const shop = async () => {
    const { principal, apiKey } = await caudal.newOrganization();
    return { id: principal.organization.id, api: stack.api.as(apiKey) };
  };
  [a, b] = [await shop(), await shop()];
  await a.api.post('/payment-links', openLink({ inlineCustomer: CUSTOMER }));
  const { body } = await a.api.post('/payment-links', openLink());
  linkId = String(body['paymentLinkId']);
  await new PayerBrowser().post(`${String(body['paymentLinkUrl'])}/begin`, { ...DETAILS, method: 'BRE_B' });
});
afterAll(async () => {
  await Promise.all(connections.map((client) => client.end()));
  await caudal?.close();
  await stack?.stop();
});

async function as(role: (typeof MERCHANTS)[number] | 'systemUrl'): Promise<Client> {
  const client = new Client({ connectionString: caudal.config.database[role] });
  await client.connect();
  connections.push(client);
  return client;
}

/** How many rows a statement reached, or the state it was refused with; rolled back, whatever it did. */
async function outcome(client: Client, set: string | null, sql: string): Promise<number | string | null> {
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

const reading = (shop: { id: string }) => `set local caudal.organization_id = '${shop.id}'`;
const batchOf = (shop: { id: string }) => `set local caudal.organization_ids = '{${shop.id}}'`;

describe('the wall of the database around links', () => {
  it("shows A's links to A alone, to whoever reads and to whoever writes", async () => {
    const sql = `select from caudal.payment_links where organization_id = '${a.id}'`;
    for (const [role, setting] of [
      ['readUrl', reading],
      ['batchUrl', batchOf],
    ] as const) {
      const client = await as(role);
      expect([role, await outcome(client, setting(a), sql)]).toEqual([role, 2]);
      expect([role, await outcome(client, setting(b), sql)]).toEqual([role, 0]);
      expect([role, await outcome(client, null, sql)]).toEqual([role, 0]);
    }
  });

  it('lets caudal_batch shut and take links of its batch, and change nothing else of them', async () => {
    const client = await as('batchUrl');
    for (const write of [
      'update caudal.payment_links set shuts_at = now()',
      `update caudal.payment_links set open_payin_id = null where id = '${linkId}'`,
    ]) {
      const reached = write.includes('where') ? 1 : 2;
      expect([write, await outcome(client, batchOf(a), write)]).toEqual([write, reached]);
      expect([write, await outcome(client, batchOf(b), write)]).toEqual([write, 0]);
    }
    for (const column of [
      "status = 'COMPLETED'",
      'amount_in_cents = 1',
      "callback_url = 'https://evil.example/'",
      'completed_at = now()',
      'payin_id = open_payin_id',
      "customer = ''",
      `organization_id = '${b.id}'`,
    ]) {
      const write = `update caudal.payment_links set ${column}`;
      expect([write, await outcome(client, batchOf(a), write)]).toEqual([write, REFUSED]);
    }
    const insert = `insert into caudal.payment_links (organization_id, id, amount_in_cents, currency, reference, callback_url, status,
      created_at, updated_at, expires_at, shuts_at) values ('${a.id}', '${linkId.slice(0, -4)}0000', 1, 'COP', 'x', 'x', 'PENDING', now(), now(), now(), now())`;
    expect(await outcome(client, batchOf(a), insert)).toBe(1);
    expect(await outcome(client, batchOf(b), insert)).toBe(REFUSED);
  });

  it('lets caudal_system end links and change neither amount nor address', async () => {
    const client = await as('systemUrl');
    const end = `update caudal.payment_links set status = 'EXPIRED', open_payin_id = null, updated_at = now() where id = '${linkId}'`;
    expect(await outcome(client, null, end)).toBe(1);
    for (const column of [
      'amount_in_cents = 1',
      "callback_url = 'x'",
      'expires_at = now()',
      "reference = 'x'",
    ])
      expect(await outcome(client, null, `update caudal.payment_links set ${column}`)).toBe(REFUSED);
  });

  it('lets nobody delete a link, nor read, change or delete what proves that a payer agreed', async () => {
    expect(await stack.database.query('select payin_id from caudal.payer_authorizations')).toHaveLength(1);
    for (const role of [...MERCHANTS, 'systemUrl'] as const) {
      const client = await as(role);
      const set = role === 'readUrl' ? reading(a) : role === 'batchUrl' ? batchOf(a) : null;
      for (const write of [
        'delete from caudal.payment_links',
        'delete from caudal.payer_authorizations',
        "update caudal.payer_authorizations set text_id = 'x'",
        "update caudal.payer_authorizations set evidence = ''",
      ])
        expect([role, write, await outcome(client, set, write)]).toEqual([role, write, REFUSED]);
      if (role === 'systemUrl') continue;
      expect(await outcome(client, set, 'select from caudal.payer_authorizations')).toBe(REFUSED);
    }
    const batch = await as('batchUrl');
    const forged = `insert into caudal.payer_authorizations values ('${a.id}', '${linkId}', 'x', now(), '')`;
    expect(await outcome(batch, batchOf(b), forged)).toBe(REFUSED);
    expect(await outcome(batch, batchOf(a), forged)).toBe(1);
  });
});

describe('the constraints of a link', () => {
  it.each([
    ["status = 'COMPLETED'", 'a completed one without its payin'],
    ["completed_at = now(), status = 'COMPLETED'", 'a completed one without the payin that did it'],
    ["status = 'EXPIRED'", 'an expired one with an attempt under way'],
    [
      `payin_id = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10'`,
      'one that is not completed, with the payin that did it',
    ],
    ['amount_in_cents = 0', 'nothing to pay'],
    ["pse_bank = 'CO_NEQUI'", 'a bank without PSE'],
  ])('refuse %s: %s', async (column) => {
    await expect(
      stack.database.query(`update caudal.payment_links set ${column} where id = '${linkId}'`),
    ).rejects.toMatchObject({ code: '23514' });
  });
});

describe('what the tables of links hold', () => {
  it('is sealed: nothing of a payer or of where they were can be read in a dump', async () => {
    const [row] = await stack.database.query<{ text: string }>(
      `select (select string_agg(l::text || coalesce(encode(customer, 'escape'), ''), '') from caudal.payment_links l)
         || (select string_agg(z::text || encode(evidence, 'escape'), '') from caudal.payer_authorizations z)
         || (select string_agg(p::text || coalesce(encode(customer, 'escape'), ''), '') from caudal.payins p) as text`,
    );
    expect(row?.text.length).toBeGreaterThan(500);
    for (const secret of [
      'Ana',
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
