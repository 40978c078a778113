import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { Answer } from '../harness/api-client.ts';
import { composeInProcess } from '../harness/in-process.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import {
  cancelPayout,
  createPayout,
  lookUp,
  newShop,
  payoutReaches,
  payoutRequest,
  type Shop,
} from '../harness/payout-requests.ts';
import { found, foundInCluster, type Needle, needlesFor } from '../harness/seeded-rows.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const startedMs = Date.now() - 1000;

/** Letters that stand nowhere else, in the shape that names and keys have. */
function letters(count: number): string {
  return Array.from(randomBytes(count), (byte) => String.fromCharCode(65 + (byte % 26))).join('');
}

/** The receiver as the directory knows them: nothing of it was ever sent by the merchant but the keys. */
const NAME = letters(12);
const DOCUMENT = String(randomInt(2_000_000_000, 9_999_999_999));
const ACCOUNT = String(randomInt(1_000_000_000, 9_999_999_999)) + String(randomInt(100, 999));
const PHONE = `3${String(randomInt(100_000_000, 999_999_999))}`;
const ALIAS = letters(11);
const MAILBOX = letters(10).toLowerCase();
const KEYS = [PHONE, `@${ALIAS}`, `${MAILBOX}@correo.example`, DOCUMENT];
/** Keys and people that are not there, or not who was meant. */
const STRANGER = letters(13);
const NOBODY = `3${String(randomInt(100_000_000, 999_999_999))}`;
/** The merchant's own word for who is paid. */
const PAYEE = {
  ...CUSTOMER,
  name: `${letters(10)} Restrepo`,
  email: `${letters(10).toLowerCase()}@correo.example`,
};
/** Stored as it is sent: it proves that what is searched would be found. */
const CONTROL = `control-${randomBytes(8).toString('hex')}`;

const HOLDER = {
  account: { type: 'CAHO', number: ACCOUNT },
  person: { type: 'N', documentType: 'CC', documentNumber: DOCUMENT, names: `${NAME} ${NAME}A` },
} as const;

const needles: Needle[] = [
  ...needlesFor('name', NAME),
  ...needlesFor('name in small', NAME.toLowerCase()),
  ...needlesFor('document', DOCUMENT),
  ...needlesFor('account', ACCOUNT),
  ...needlesFor('phone', PHONE),
  ...needlesFor('alias', ALIAS),
  ...needlesFor('alias in small', ALIAS.toLowerCase()),
  ...needlesFor('mailbox', MAILBOX),
  ...needlesFor('stranger', STRANGER),
  ...needlesFor('nobody', NOBODY),
  ...needlesFor('payee', PAYEE.name.split(' ')[0] ?? ''),
  ...needlesFor('address of the payee', PAYEE.email.split('@')[0] ?? ''),
];
const control = needlesFor('control', CONTROL).slice(0, 1);

let stack: Stack;
let shop: Shop;
let simulator: SimulatorControl;
let statuses: number[];
const metrics: string[] = [];

beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_LOG_LEVEL: 'debug' } });
  const caudal = await composeInProcess(stack.settings);
  shop = await newShop(caudal, stack.api);
  await caudal.close();
  simulator = new SimulatorControl(stack.simulatorUrl);
  for (const key of KEYS) await simulator.list({ key, holder: HOLDER });
  statuses = await handleReceivers();
  for (const { opsUrl } of [...stack.apis, ...stack.workers])
    metrics.push(await (await fetch(`${opsUrl}/metrics`)).text());
});
afterAll(() => stack?.stop());

/** Whatever can be done with a receiver: looked up, guessed at, paid, refused, declined, canceled, listed, asked about. */
async function handleReceivers(): Promise<number[]> {
  const answers: Answer<unknown>[] = [];
  const send = async <T>(answer: Promise<Answer<T>>) => {
    answers.push(await answer);
  };
  for (const key of KEYS) {
    await send(lookUp(shop.api, key));
    await send(lookUp(shop.api, key.toLowerCase(), { name: `${NAME} ${NAME}a`, documentNumber: DOCUMENT }));
    await send(lookUp(shop.api, key, { name: STRANGER, documentNumber: NOBODY }));
  }
  for (const key of [NOBODY, `@${STRANGER}`, `${STRANGER} ${STRANGER}`, `+57${PHONE}`])
    await send(lookUp(shop.api, key));
  await send(shop.api.get(`/breb/keys/%40${ALIAS}?${STRANGER}=${DOCUMENT}`));
  await send(shop.api.get(`/breb/keys/${PHONE}/${ALIAS}`));
  await send(shop.api.request('POST', `/breb/keys/${PHONE}`, { body: {} }));
  await send(shop.api.get(`/breb/keys/${PHONE}%`));
  await send(shop.api.get(`/breb/keys/${PHONE.repeat(30)}`));
  await send(shop.api.as('none').get(`/breb/keys/${PHONE}`));
  await payReceivers(send);
  await railsThatFail(send);
  return answers.map(({ status }) => status);
}

async function payReceivers(send: <T>(answer: Promise<Answer<T>>) => Promise<void>): Promise<void> {
  const to = (keyString: string, changes: Record<string, unknown> = {}) =>
    payoutRequest({ inlineCustomer: PAYEE, breb: { keyString }, ...changes });
  const key = { 'idempotency-key': `pay ${ALIAS} ${DOCUMENT}` };
  const first = to(`@${ALIAS}`, { reference: CONTROL });
  await send(shop.api.post('/payouts', first, key));
  await send(shop.api.post('/payouts', first, key));
  await send(shop.api.post('/payouts', { ...first, amountInCents: 1 }, key));
  await send(shop.api.post('/payouts', first));
  const paid = await Promise.all(KEYS.map((each) => createPayout(shop.api, to(each))));
  const lost = await createPayout(shop.api, to(NOBODY));
  await send(shop.api.post('/payouts', to(PHONE, { amountInCents: 999_999_999_999 })));
  await send(shop.api.post('/payouts', to(`${STRANGER} ${PHONE}`)));
  await send(shop.api.post('/payouts', to(PHONE, { breb: { keyString: PHONE, lookupId: randomUUID() } })));
  await send(shop.api.post('/payouts', to(PHONE, { [ALIAS]: DOCUMENT })));
  await send(shop.api.request('POST', '/payouts', { raw: `{"breb":{"keyString":"${PHONE}"` }));
  await Promise.all(paid.map(({ id }) => payoutReaches(shop.api, id, 'CONFIRMED')));
  await payoutReaches(shop.api, lost.id, 'DECLINED');
  await send(cancelPayout(shop.api, lost.id));
  await send(shop.api.get(`/payouts?keyString=${PHONE}`));
  await send(shop.api.get(`/payouts?keyString=${STRANGER}%20${PHONE}`));
  await send(shop.api.get(`/payouts?cursor=${ALIAS}&keyString=${PHONE}`));
  await send(shop.api.get('/payouts?pageSize=100'));
  await send(shop.api.get('/ledger/entries'));
}

/** Calls that fail are told in the log, and what was sent is asked about. The holder changes hands under a promise. */
async function railsThatFail(send: <T>(answer: Promise<Answer<T>>) => Promise<void>): Promise<void> {
  for (const fault of ['down', 'lost-answer', 'reset'] as const) {
    await simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault, times: 1 });
    await send(lookUp(shop.api, PHONE));
  }
  await simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'lost-answer', times: 1 });
  const breb = { keyString: PHONE };
  const unknown = await createPayout(shop.api, payoutRequest({ inlineCustomer: PAYEE, breb }));
  await payoutReaches(shop.api, unknown.id, 'CONFIRMED', 20_000);
  await send(lookUp(shop.api, `@${ALIAS}`));
  await simulator.list({
    key: `@${ALIAS}`,
    holder: { person: { ...HOLDER.person, documentNumber: NOBODY, names: STRANGER } },
  });
  const changed = await createPayout(
    shop.api,
    payoutRequest({ inlineCustomer: PAYEE, breb: { keyString: `@${ALIAS}` } }),
  );
  await payoutReaches(shop.api, changed.id, 'DECLINED');
}

describe('the key, the name, the document and the account of a receiver', () => {
  it('have passed through everything: looked up, paid, declined, refused, listed and asked about', () => {
    expect([...new Set(statuses)].toSorted((x, y) => x - y)).toEqual([
      200, 201, 400, 401, 404, 405, 409, 422, 503,
    ]);
  });

  it('are in no table of any schema', async () => {
    const tables = await stack.database.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p', 'm') and n.nspname not like 'pg_toast%'`,
    );
    const hits: string[] = [];
    const rowsOf = new Map<string, number>();
    let controls = 0;
    const dump = new Client({ connectionString: stack.database.url });
    await dump.connect();
    for (const { name } of tables) {
      const { rows } = await dump.query<{ row: string }>(`select t::text as row from ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      rowsOf.set(name, rows.length);
      hits.push(...found(needles, text).map((needle) => `${needle} in ${name}`));
      controls += found(control, text).length;
    }
    await dump.end();
    for (const table of [
      'payouts',
      'payout_history',
      'payout_attempts',
      'breb_lookups',
      'events',
      'rail_notices',
    ])
      expect([table, rowsOf.get(`caudal.${table}`)]).toEqual([table, expect.any(Number)]);
    for (const table of ['payouts', 'payout_attempts', 'breb_lookups', 'events', 'rail_notices'])
      expect(rowsOf.get(`caudal.${table}`)).toBeGreaterThan(0);
    expect(hits).toEqual([]);
    expect(controls).toBeGreaterThanOrEqual(2);
  });

  it('are not in the statements PostgreSQL shows of its sessions', async () => {
    const rows = await stack.database.query<{ query: string }>(
      "select query from pg_stat_activity where usename like 'caudal\\_%' and datname = current_database()",
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(found(needles, rows.map(({ query }) => query).join('\n'))).toEqual([]);
  });

  it("are not in the bytes of the cluster's files, write-ahead log included", async () => {
    const [row] = await stack.database.query<{ oid: string }>(
      'select oid::text from pg_database where datname = current_database()',
    );
    const databaseOid = row?.oid ?? '';
    await stack.database.query('checkpoint');
    const cluster = { dataDir: inject('postgres').dataDir, databaseOid, sinceMs: startedMs };
    const hits = foundInCluster([...needles, ...control], cluster);
    const controls = hits.filter((hit) => hit.name.startsWith('control'));
    expect(hits.filter((hit) => !controls.includes(hit))).toEqual([]);
    expect(controls.some((hit) => hit.file.startsWith(`base/${databaseOid}/`))).toBe(true);
    expect(controls.some((hit) => hit.file.startsWith('pg_wal/'))).toBe(true);
  });

  it('are in no metric: neither as a label nor in the route of a lookup', () => {
    const [ofApi = '', ofWorker = ''] = metrics;
    for (const result of ['found', 'mismatch', 'missed', 'unanswered'])
      expect(ofApi).toContain(`caudal_breb_lookups_total{result="${result}"}`);
    expect(ofApi).toContain('/breb/keys/:keyString');
    expect(ofWorker).toContain('caudal_payout_attempts_total');
    for (const text of metrics) expect(found(needles, text)).toEqual([]);
  });

  it('are in no line of the logs, at any level, the path of a lookup included', async () => {
    const children = [...stack.apis, ...stack.workers];
    await Promise.all(children.map((child) => child.stop()));
    for (const child of children) {
      const output = await until('the log is complete', async () => {
        const text = child.output();
        return text.includes('"msg":"stopped"') ? text : false;
      });
      // From its first line on: nothing was cut off.
      expect(output).toContain('"msg":"ready"');
      expect(found(needles, output)).toEqual([]);
    }
    const [ofApi = '', ofWorker = ''] = children.map((child) => child.output());
    expect(ofApi).toContain('"route":"/breb/keys/:keyString"');
    expect(ofApi).toContain('"operation":"resolve"');
    expect(ofWorker).toContain('"operation":"pay"');
  });
});
