import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import type { ApiResponse } from '../harness/api-client.ts';
import { composeInProcess } from '../harness/in-process.ts';
import { CUSTOMER } from '../harness/payin-requests.ts';
import {
  cancelPayout,
  createPayout,
  lookUp,
  newShop,
  payoutRequest,
  type Shop,
  waitForPayoutStatus,
} from '../harness/payout-requests.ts';
import { findInCluster, findNeedles, type Needle, needlesFor } from '../harness/seeded-rows.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { keepWal } from './keep-wal.ts';

const startedMs = Date.now() - 1000;

// Letters and digits that occur nowhere else, in the format of names and keys.

/** The receiver in the directory: the merchant never sent any of it except the keys. */
const NAME = 'XQVZJWKYBHGF';
const DOCUMENT = '7439158206';
const ACCOUNT = '5928307416538';
const PHONE = '3690472815';
const ALIAS = 'ZKWQXVJHYPG';
const MAILBOX = 'vjqzxkwhbg';
const KEYS = [PHONE, `@${ALIAS}`, `${MAILBOX}@correo.example`, DOCUMENT];
/** Keys and people that do not exist or do not match. */
const STRANGER = 'HXJQWZVKYGBFP';
const UNKNOWN_KEY = '3518260947';
/** The payee as the merchant names it. */
const PAYEE = {
  ...CUSTOMER,
  name: 'KVXZQJWGHY Restrepo',
  email: 'wzxqkjvyfh@correo.example',
};
/** Stored unencrypted: proves that the search finds stored values. */
const CONTROL = 'control-6e2fb8410c9d57a3';

const HOLDER = {
  account: { type: 'CAHO', number: ACCOUNT },
  person: { type: 'N', documentType: 'CC', documentNumber: DOCUMENT, names: `${NAME} ${NAME}A` },
} as const;

const needles: Needle[] = [
  ...needlesFor('name', NAME),
  ...needlesFor('lower-case name', NAME.toLowerCase()),
  ...needlesFor('document', DOCUMENT),
  ...needlesFor('account', ACCOUNT),
  ...needlesFor('phone', PHONE),
  ...needlesFor('alias', ALIAS),
  ...needlesFor('lower-case alias', ALIAS.toLowerCase()),
  ...needlesFor('mailbox', MAILBOX),
  ...needlesFor('stranger', STRANGER),
  ...needlesFor('nobody', UNKNOWN_KEY),
  ...needlesFor('payee', PAYEE.name.split(' ')[0] ?? ''),
  ...needlesFor('email of the payee', PAYEE.email.split('@')[0] ?? ''),
];
const control = needlesFor('control', CONTROL).slice(0, 1);

let stack: Stack;
let shop: Shop;
let endKeepingWal: (() => Promise<unknown>) | undefined;
let simulator: SimulatorControl;
let statuses: number[];
const metrics: string[] = [];

beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_LOG_LEVEL: 'debug' } });
  endKeepingWal = await keepWal(stack.database);
  const caudal = await composeInProcess(stack.settings);
  shop = await newShop(caudal, stack.api);
  await caudal.close();
  simulator = new SimulatorControl(stack.simulatorUrl);
  for (const key of KEYS) await simulator.setDirectoryEntry({ key, holder: HOLDER });
  statuses = await handleReceivers();
  for (const { opsUrl } of [...stack.apis, ...stack.workers])
    metrics.push(await (await fetch(`${opsUrl}/metrics`)).text());
});
afterAll(async () => {
  await endKeepingWal?.();
  await stack?.stop();
});

/**
 * Everything that can be done with a receiver: lookups, guesses, payouts, rejections, declines,
 * cancellations, lists and polls.
 */
async function handleReceivers(): Promise<number[]> {
  const answers: ApiResponse<unknown>[] = [];
  const send = async <T>(answer: Promise<ApiResponse<T>>) => {
    answers.push(await answer);
  };
  for (const key of KEYS) {
    await send(lookUp(shop.api, key));
    await send(lookUp(shop.api, key.toLowerCase(), { name: `${NAME} ${NAME}a`, documentNumber: DOCUMENT }));
    await send(lookUp(shop.api, key, { name: STRANGER, documentNumber: UNKNOWN_KEY }));
  }
  for (const key of [UNKNOWN_KEY, `@${STRANGER}`, `${STRANGER} ${STRANGER}`, `+57${PHONE}`])
    await send(lookUp(shop.api, key));
  await send(shop.api.get(`/breb/keys/%40${ALIAS}?${STRANGER}=${DOCUMENT}`));
  await send(shop.api.get(`/breb/keys/${PHONE}/${ALIAS}`));
  await send(shop.api.request('POST', `/breb/keys/${PHONE}`, { body: {} }));
  await send(shop.api.get(`/breb/keys/${PHONE}%`));
  await send(shop.api.get(`/breb/keys/${PHONE.repeat(30)}`));
  await send(shop.api.as('none').get(`/breb/keys/${PHONE}`));
  await payReceivers(send);
  await failRailCalls(send);
  return answers.map(({ status }) => status);
}

async function payReceivers(send: <T>(answer: Promise<ApiResponse<T>>) => Promise<void>): Promise<void> {
  const requestTo = (keyString: string, changes: Record<string, unknown> = {}) =>
    payoutRequest({ inlineCustomer: PAYEE, breb: { keyString }, ...changes });
  const key = { 'idempotency-key': `pay ${ALIAS} ${DOCUMENT}` };
  const first = requestTo(`@${ALIAS}`, { reference: CONTROL });
  await send(shop.api.post('/payouts', first, key));
  await send(shop.api.post('/payouts', first, key));
  await send(shop.api.post('/payouts', { ...first, amountInCents: 1 }, key));
  await send(shop.api.post('/payouts', first));
  const paid = await Promise.all(KEYS.map((each) => createPayout(shop.api, requestTo(each))));
  const lost = await createPayout(shop.api, requestTo(UNKNOWN_KEY));
  await send(shop.api.post('/payouts', requestTo(PHONE, { amountInCents: 999_999_999_999 })));
  await send(shop.api.post('/payouts', requestTo(`${STRANGER} ${PHONE}`)));
  await send(
    shop.api.post('/payouts', requestTo(PHONE, { breb: { keyString: PHONE, lookupId: randomUUID() } })),
  );
  await send(shop.api.post('/payouts', requestTo(PHONE, { [ALIAS]: DOCUMENT })));
  await send(shop.api.request('POST', '/payouts', { raw: `{"breb":{"keyString":"${PHONE}"` }));
  await Promise.all(paid.map(({ id }) => waitForPayoutStatus(shop.api, id, 'CONFIRMED')));
  await waitForPayoutStatus(shop.api, lost.id, 'DECLINED');
  await send(cancelPayout(shop.api, lost.id));
  await send(shop.api.get(`/payouts?keyString=${PHONE}`));
  await send(shop.api.get(`/payouts?keyString=${STRANGER}%20${PHONE}`));
  await send(shop.api.get(`/payouts?cursor=${ALIAS}&keyString=${PHONE}`));
  await send(shop.api.get('/payouts?pageSize=100'));
  await send(shop.api.get('/ledger/entries'));
}

/** Failing calls are logged and sent orders are polled. The key holder changes after a lookup. */
async function failRailCalls(send: <T>(answer: Promise<ApiResponse<T>>) => Promise<void>): Promise<void> {
  for (const fault of ['down', 'lost-answer', 'reset'] as const) {
    await simulator.addFault({ rail: 'BRE_B', operation: 'resolve', fault, times: 1 });
    await send(lookUp(shop.api, PHONE));
  }
  await simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'lost-answer', times: 1 });
  const breb = { keyString: PHONE };
  const unknown = await createPayout(shop.api, payoutRequest({ inlineCustomer: PAYEE, breb }));
  await within('the confirmation of an order whose answer is lost', 20_000, () =>
    waitForPayoutStatus(shop.api, unknown.id, 'CONFIRMED'),
  );
  await send(lookUp(shop.api, `@${ALIAS}`));
  await simulator.setDirectoryEntry({
    key: `@${ALIAS}`,
    holder: { person: { ...HOLDER.person, documentNumber: UNKNOWN_KEY, names: STRANGER } },
  });
  const changed = await createPayout(
    shop.api,
    payoutRequest({ inlineCustomer: PAYEE, breb: { keyString: `@${ALIAS}` } }),
  );
  await waitForPayoutStatus(shop.api, changed.id, 'DECLINED');
}

describe('the key, name, document and account of a receiver', () => {
  it('have passed through every case: looked up, paid, declined, rejected, listed and polled', () => {
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
    const rowCounts = new Map<string, number>();
    let controls = 0;
    const dump = new Client({ connectionString: stack.database.url });
    await dump.connect();
    for (const { name } of tables) {
      const { rows } = await dump.query<{ row: string }>(`select t::text as row from ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      rowCounts.set(name, rows.length);
      hits.push(...findNeedles(needles, text).map((needle) => `${needle} in ${name}`));
      controls += findNeedles(control, text).length;
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
      expect([table, rowCounts.get(`caudal.${table}`)]).toEqual([table, expect.any(Number)]);
    for (const table of ['payouts', 'payout_attempts', 'breb_lookups', 'events', 'rail_notices'])
      expect(rowCounts.get(`caudal.${table}`)).toBeGreaterThan(0);
    expect(hits).toEqual([]);
    expect(controls).toBeGreaterThanOrEqual(2);
  });

  it('are not in the statements shown in pg_stat_activity', async () => {
    const rows = await stack.database.query<{ query: string }>(
      "select query from pg_stat_activity where usename like 'caudal\\_%' and datname = current_database()",
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(findNeedles(needles, rows.map(({ query }) => query).join('\n'))).toEqual([]);
  });

  it("are not in the bytes of the cluster's files, including the write-ahead log", async () => {
    const [row] = await stack.database.query<{ oid: string }>(
      'select oid::text from pg_database where datname = current_database()',
    );
    const databaseOid = row?.oid ?? '';
    await stack.database.query('checkpoint');
    const cluster = { dataDir: inject('postgres').dataDir, databaseOid, sinceMs: startedMs };
    const hits = findInCluster([...needles, ...control], cluster);
    const controls = hits.filter((hit) => hit.name.startsWith('control'));
    expect(hits.filter((hit) => !controls.includes(hit))).toEqual([]);
    expect(controls.some((hit) => hit.file.startsWith(`base/${databaseOid}/`))).toBe(true);
    expect(controls.some((hit) => hit.file.startsWith('pg_wal/'))).toBe(true);
  });

  it('are in no metric, neither as a label nor in the route of a lookup', () => {
    const [ofApi = '', ofWorker = ''] = metrics;
    for (const result of ['found', 'mismatch', 'missed', 'unanswered'])
      expect(ofApi).toContain(`caudal_breb_lookups_total{result="${result}"}`);
    expect(ofApi).toContain('/breb/keys/:keyString');
    expect(ofWorker).toContain('caudal_payout_attempts_total');
    for (const text of metrics) expect(findNeedles(needles, text)).toEqual([]);
  });

  it('are in no log line at any level, including the path of a lookup', async () => {
    const children = [...stack.apis, ...stack.workers];
    await Promise.all(children.map((child) => child.stop()));
    for (const child of children) {
      const output = await until('the log is complete', async () => {
        const text = child.output();
        return text.includes('"msg":"stopped"') ? text : false;
      });
      // From its first line: nothing was cut off.
      expect(output).toContain('"msg":"ready"');
      expect(findNeedles(needles, output)).toEqual([]);
    }
    const [ofApi = '', ofWorker = ''] = children.map((child) => child.output());
    expect(ofApi).toContain('"route":"/breb/keys/:keyString"');
    expect(ofApi).toContain('"operation":"resolve"');
    expect(ofWorker).toContain('"operation":"pay"');
  });
});
