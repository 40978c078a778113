import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { ApiClient, type ApiResponse } from '../harness/api-client.ts';
import { composeInProcess } from '../harness/in-process.ts';
import { brebPayin, psePayin } from '../harness/payin-requests.ts';
import { findInCluster, findNeedles, type Needle, needlesFor } from '../harness/seeded-rows.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { keepWal } from './keep-wal.ts';

const startedMs = Date.now() - 1000;

/** Ten letters that occur nowhere else: part of the name, the email, a passport and an idempotency key. */
const WORD = 'qwzkxjvbyh';
/** Not one of the simulator's magic values, which start with 10000000. */
const DOCUMENT = '8264193705';
const PHONE = '3871940562';
/** Stored unencrypted: proves that the search finds stored values. */
const CONTROL = 'control-93d07b5ae1f84c26';

const CITIZEN = {
  name: `${WORD} Restrepo`,
  idType: 'CO_CC',
  idNumber: DOCUMENT,
  phone: `+57${PHONE}`,
  email: `${WORD}@correo.example`,
};
const FOREIGNER = { ...CITIZEN, idType: 'PASSPORT', idNumber: `${WORD}7` };

let stack: Stack;
let api: ApiClient;
let databaseOid: string;
let endKeepingWal: (() => Promise<unknown>) | undefined;
const needles: Needle[] = [];
const control = needlesFor('control', CONTROL).slice(0, 1);
/** Two payins of one organization with seeded customers. */
let created: { breb: ApiResponse; pse: ApiResponse };
let statuses: number[];

beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_LOG_LEVEL: 'debug' } });
  endKeepingWal = await keepWal(stack.database);
  const caudal = await composeInProcess(stack.settings);
  const { principal, apiKey } = await caudal.newOrganization();
  await caudal.close();
  api = stack.api.as(apiKey);
  needles.push(
    ...needlesFor('word', WORD),
    ...needlesFor('document', DOCUMENT),
    ...needlesFor('phone', PHONE),
    ...needlesFor('data key', principal.secrets.dataKey.get(1)?.export() ?? Buffer.alloc(0)),
    ...secretNeedles('API key', apiKey),
    ...secretNeedles('API key of the first organization', stack.organization.apiKey),
  );
  const [row] = await stack.database.query<{ oid: string }>(
    'select oid::text from pg_database where datname = current_database()',
  );
  databaseOid = row?.oid ?? '';
  statuses = await handleCustomers(apiKey, principal.keyId);
});
afterAll(async () => {
  await endKeepingWal?.();
  await stack?.stop();
});

/** The secret part of a credential: its ID is public and logged. */
function secretNeedles(name: string, credential: string): Needle[] {
  return needlesFor(name, credential.split('_').at(-1) ?? '');
}

/**
 * Everything a merchant or an attacker can do with a customer: requests that are stored, rejected, replayed
 * and retried.
 */
async function handleCustomers(apiKey: string, keyId: string): Promise<number[]> {
  const answers: ApiResponse[] = [];
  const send = async (answer: Promise<ApiResponse>) => {
    answers.push(await answer);
    return answers.at(-1) as ApiResponse;
  };
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    send(api.post('/payins', body, headers));
  const key = { 'idempotency-key': `order of ${WORD}` };
  const first = brebPayin({ inlineCustomer: CITIZEN, reference: CONTROL });
  const pse = psePayin({ inlineCustomer: FOREIGNER });
  created = { breb: await post(first, key), pse: await post(pse, { 'idempotency-key': `pse of ${WORD}` }) };
  await post(brebPayin({ inlineCustomer: FOREIGNER, breb: { keyType: 'QR_CODE' } }));
  await post(first, key);
  await post({ ...first, amountInCents: 1 }, key);
  await post(first);
  await post(brebPayin({ inlineCustomer: { ...CITIZEN, phone: PHONE } }));
  await post(brebPayin({ inlineCustomer: { ...CITIZEN, idNumber: `${DOCUMENT}-x` } }));
  await post(brebPayin({ inlineCustomer: CITIZEN, [WORD]: DOCUMENT }));
  await post(psePayin({ inlineCustomer: CITIZEN, pse: { bank: `CO_${WORD}`, personType: 'INDIVIDUAL' } }));
  await post(brebPayin({ inlineCustomer: CITIZEN, callbackUrl: `ftp://${WORD}.example` }));
  await post(brebPayin({ inlineCustomer: CITIZEN }), { 'idempotency-key': `${WORD}é` });
  await send(
    api.request('POST', '/payins', { raw: `{"inlineCustomer":{"name":"${WORD}","idNumber":${DOCUMENT}` }),
  );
  await send(api.request('POST', '/payins', { raw: WORD.repeat(10_000) }));
  await send(api.request('POST', '/payins', { raw: WORD, headers: { 'content-type': `text/${WORD}` } }));
  await send(api.get(`/payins/${WORD}`));
  await send(api.get(`/${WORD}?document=${DOCUMENT}`));
  await send(api.get(`/payins?${WORD}=${DOCUMENT}`));
  await send(api.get(`/payins?reference=${WORD}`));
  await send(api.get(`/payins?cursor=${WORD}`));
  await send(api.get(`/payins/${String(created.breb.body['id'])}`));
  await send(api.get('/payins?pageSize=100'));
  await send(api.as(`${apiKey.slice(0, -1)}!`).get('/payins'));
  await requestTokens(apiKey, keyId, send);
  await failRailCalls(post);
  return answers.map((answer) => answer.status);
}

/** Requests tokens with a form and with HTTP Basic, each also with a wrong secret. */
async function requestTokens(
  apiKey: string,
  keyId: string,
  send: (answer: Promise<ApiResponse>) => Promise<ApiResponse>,
): Promise<void> {
  const url = stack.apis[0]?.url ?? '';
  const anonymous = new ApiClient(url);
  const requestToken = (form: Record<string, string>, headers: Record<string, string> = {}) =>
    send(
      anonymous.request('POST', '/oauth/token', {
        raw: new URLSearchParams({ grant_type: 'client_credentials', ...form }).toString(),
        headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
      }),
    );
  const basic = (secret: string) => ({
    authorization: `Basic ${Buffer.from(`${keyId}:${secret}`).toString('base64')}`,
  });
  for (const issued of [
    await requestToken({ client_id: keyId, client_secret: apiKey }),
    await requestToken({}, basic(apiKey)),
  ]) {
    const token = String(issued.body['access_token']);
    needles.push(...secretNeedles('access token', token));
    await send(new ApiClient(url, { authorization: `Bearer ${token}` }).get('/payins'));
  }
  await requestToken({ client_id: keyId, client_secret: `${apiKey}x` });
  await requestToken({}, basic(`${apiKey}x`));
}

/** Failing rail calls are logged and retried by the worker. */
async function failRailCalls(post: (body: unknown) => Promise<ApiResponse>): Promise<void> {
  for (const fault of [
    { rail: 'PSE', operation: 'create', fault: 'down', times: 1 },
    { rail: 'BRE_B', operation: 'register', fault: 'down', times: 1 },
  ])
    await fetch(`${stack.simulatorUrl}/control/faults`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    });
  await post(psePayin({ inlineCustomer: CITIZEN }));
  await post(brebPayin({ inlineCustomer: CITIZEN }));
  await until('the worker has processed all waiting work', async () => {
    const [row] = await stack.database.query<{ waiting: number }>(
      `select ((select count(*) from caudal.breb_keys where registered_at is null)
         + (select count(*) from caudal.payins where status = 'PENDING'))::int as waiting`,
    );
    return row?.waiting === 0;
  });
}

describe('a customer and a credential', () => {
  it('have passed through every case: created, replayed, rejected and read', () => {
    expect([...new Set(statuses)].toSorted((a, b) => a - b)).toEqual([
      200, 201, 400, 401, 404, 409, 413, 415, 422,
    ]);
    expect(created.breb.body['inlineCustomer']).toEqual(CITIZEN);
    expect(created.pse.body['inlineCustomer']).toEqual(FOREIGNER);
  });

  it('are in no table of any schema', async () => {
    const tables = await stack.database.query<{ name: string }>(
      `select format('%I.%I', n.nspname, c.relname) as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.relkind in ('r', 'p', 'm') and n.nspname not like 'pg_toast%'`,
    );
    const hits: string[] = [];
    let controls = 0;
    const dump = new Client({ connectionString: stack.database.url });
    await dump.connect();
    for (const { name } of tables) {
      const { rows } = await dump.query<{ row: string }>(`select t::text as row from ${name} t`);
      const text = rows.map(({ row }) => row).join('\n');
      hits.push(...findNeedles(needles, text).map((needle) => `${needle} in ${name}`));
      controls += findNeedles(control, text).length;
    }
    await dump.end();
    expect(tables.map(({ name }) => name)).toContain('caudal.payins');
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
    const cluster = { dataDir: inject('postgres').dataDir, databaseOid, sinceMs: startedMs };
    await stack.database.query('checkpoint');
    const hits = findInCluster([...needles, ...control], cluster);
    const controls = hits.filter((hit) => hit.name.startsWith('control'));
    expect(hits.filter((hit) => !controls.includes(hit))).toEqual([]);
    // The search found the unencrypted control value in both places.
    expect(controls.some((hit) => hit.file.startsWith(`base/${databaseOid}/`))).toBe(true);
    expect(controls.some((hit) => hit.file.startsWith('pg_wal/'))).toBe(true);
  });
});

describe('a ciphertext that was moved to another row', () => {
  it('fails to decrypt: the API returns 500 without details', async () => {
    const { breb, pse } = created;
    const move = (from: ApiResponse, to: ApiResponse) =>
      stack.database.query(
        'update caudal.payins set customer = (select customer from caudal.payins where id = $1) where id = $2',
        [from.body['id'], to.body['id']],
      );
    const original = await stack.database.query<{ customer: Buffer }>(
      'select customer from caudal.payins where id = $1',
      [breb.body['id']],
    );
    await move(pse, breb);
    const answers = [
      await api.get(`/payins/${String(breb.body['id'])}`),
      await api.get(`/payins?reference=${CONTROL}`),
    ];
    for (const answer of answers) {
      expect(answer.status).toBe(500);
      expect(answer.body['code']).toBe('internal_error');
      expect(findNeedles(needles, answer.text)).toEqual([]);
      expect(answer.text).not.toMatch(/decrypt|cipher|authenticate|node:|\.ts/i);
    }
    expect((await api.get(`/payins/${String(pse.body['id'])}`)).body['inlineCustomer']).toEqual(FOREIGNER);
    await stack.database.query('update caudal.payins set customer = $2 where id = $1', [
      breb.body['id'],
      original[0]?.customer,
    ]);
    expect((await api.get(`/payins/${String(breb.body['id'])}`)).body['inlineCustomer']).toEqual(CITIZEN);
  });

  it('fails to decrypt when a bit is changed', async () => {
    const { breb } = created;
    const flip = (position: number) =>
      stack.database.query(
        'update caudal.payins set customer = set_byte(customer, $2, get_byte(customer, $2) # 1) where id = $1',
        [breb.body['id'], position],
      );
    for (const position of [0, 1, 13, 40]) {
      await flip(position);
      expect((await api.get(`/payins/${String(breb.body['id'])}`)).status).toBe(500);
      await flip(position);
    }
    expect((await api.get(`/payins/${String(breb.body['id'])}`)).status).toBe(200);
  });
});

describe('the logs after all tests', () => {
  it('contain no customer and no credential, at any level', async () => {
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
    const [apiLog = '', workerLog = ''] = children.map((child) => child.output());
    expect(apiLog).toContain(String(created.breb.body['organizationId']));
    expect(apiLog).toContain('"code":"internal_error"');
    expect(apiLog).toContain('"code":"rail_outcome_unknown"');
    expect(workerLog.length).toBeGreaterThan(0);
  });
});
