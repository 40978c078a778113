import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { PRODUCTION_DEADLINES } from '../../../scripts/testing/patient-settings.ts';
import { SCHEMA_RANGE } from '../../src/db/schema-range.ts';
import { EVENT_NAMES, TEST_EVENT } from '../../src/events/event.ts';
import { eventSchema } from '../../src/http/api/event.schema.ts';
import { OPERATIONS } from '../../src/http/api/operations.ts';
import { ERRORS } from '../../src/kit/error-catalogue.ts';
import { signatureHeaders } from '../../src/webhooks/signature.ts';
import { brebPayin, CUSTOMER, newReference, psePayin } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let api: string;
let ops: string;
const extras: Child[] = [];
beforeAll(async () => {
  stack = await startStack({
    settings: {
      CAUDAL_LOG_LEVEL: 'debug',
    },
  });
  // No month begins while these tests run.
  await stack.database.query(
    `select caudal.shift_time(interval '1 day')
     where date_trunc('month', caudal.now(), 'UTC') <> date_trunc('month', caudal.now() + interval '1 day', 'UTC')`,
  );
  api = stack.apis[0]?.url ?? '';
  ops = stack.apis[0]?.opsUrl ?? '';
});
afterAll(async () => {
  await Promise.all(extras.map((child) => child.stop()));
  await stack?.stop();
});

interface Server extends Child {
  readonly url: string;
  readonly opsUrl: string;
}

/** Starts another process on the same database. */
async function startExtra(
  role: 'api' | 'worker' | 'all',
  settings: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const child = await startServer(role, { ...stack.settings, CAUDAL_PORT: '0', ...settings });
  extras.push(child);
  const at = (port: unknown) => `http://127.0.0.1:${String(port)}`;
  return { ...child, url: at(child.ready['port']), opsUrl: at(child.ready['opsPort']) };
}

async function readiness(url: string): Promise<{ status: number; codes: string[]; reasons: string[] }> {
  const response = await fetch(`${url}/readyz`);
  const { codes, reasons } = (await response.json()) as { codes: string[]; reasons: string[] };
  return { status: response.status, codes, reasons };
}

async function countRows(text: string, values: readonly unknown[] = []): Promise<number> {
  const [row] = await stack.database.query<{ count: string }>(`select count(*) from ${text}`, values);
  return Number(row?.count);
}

describe('the operations port', () => {
  it('reports that the process is alive and ready', async () => {
    const alive = await fetch(`${ops}/livez`);
    expect([alive.status, await alive.json()]).toEqual([200, { status: 'alive' }]);
    expect(await readiness(ops)).toEqual({ status: 200, codes: [], reasons: [] });
  });

  it("is separate from the merchant port: neither serves the other's paths", async () => {
    expect(new URL(ops).port).not.toBe(new URL(api).port);
    for (const path of ['/livez', '/readyz', '/metrics']) {
      const answer = await stack.api.get(path);
      expect(answer.status).toBe(404);
      expect(answer.body['code']).toBe('not_found');
    }
    for (const path of ['/payins', '/docs', '/openapi.json', '/oauth/token'])
      expect((await fetch(ops + path, { headers: { 'x-api-key': stack.organization.apiKey } })).status).toBe(
        404,
      );
  });

  const dropMonth = (ahead: number) =>
    stack.database.query(
      `do $$ begin execute format('drop table caudal.rail_notices_%s', to_char((date_trunc('month', caudal.now() + interval '5 minutes', 'UTC') at time zone 'UTC') + interval '${ahead} months', 'YYYYMM')); end $$`,
    );
  const readMonths = async () =>
    Number(/^caudal_months_prepared (\S+)$/m.exec(await (await fetch(`${ops}/metrics`)).text())?.[1]);

  it('stays ready when a partition of the next month is missing, which the metrics report', async () => {
    await dropMonth(1);
    await until('the metric says so', async () => (await readMonths()) === 0);
    expect((await readiness(ops)).status).toBe(200);
    await stack.database.query("select caudal.make_months(caudal.now() + interval '3 months')");
    await until('the metric says so', async () => (await readMonths()) === 3);
  });

  it('reports not ready with the reason when a partition of this month is missing, but stays alive', async () => {
    await dropMonth(0);
    const unready = await until('the process has noticed', async () => {
      const current = await readiness(ops);
      return current.status === 503 && current.codes.includes('month_missing') && current;
    });
    expect(unready.codes).toEqual(['month_missing']);
    expect(unready.reasons.join()).toContain('this month');
    expect((await fetch(`${ops}/livez`)).status).toBe(200);
    await stack.database.query("select caudal.make_months(caudal.now() + interval '3 months')");
    await until('it is ready again', async () => (await readiness(ops)).status === 200);
  });

  it('reports PostgreSQL, the schema, standbys and the archive as metrics', async () => {
    // A scrape does not wait long for the query of the database.
    const text = await until('the metrics of the database were read', async () => {
      const metrics = await (await fetch(`${ops}/metrics`)).text();
      return /^caudal_database_server_version /m.test(metrics) && metrics;
    });
    expect(text).toMatch(/^caudal_database_server_version 18\d{4}$/m);
    expect(text).toContain(`\ncaudal_schema_version ${SCHEMA_RANGE.newest}\n`);
    expect(text).toContain('\ncaudal_database_standbys{state="sync"} 0\n');
    expect(text).toContain('\ncaudal_database_standbys{state="async"} 0\n');
    expect(text).toContain('\ncaudal_database_archive_failing 0\n');
    expect(text).not.toMatch(/^caudal_database_archive_last_success_timestamp_seconds /m);
  });

  it('names the role whose login PostgreSQL rejects, and recovers', async () => {
    const { name } = stack.database;
    await stack.database.query(`revoke connect on database ${name} from public`);
    try {
      await stack.database.query(
        "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'caudal_system' and datname = current_database()",
      );
      const unready = await until('the process has noticed', async () => {
        const current = await readiness(ops);
        return current.status === 503 && current.codes.includes('login_refused') && current;
      });
      expect(unready.codes).toEqual(['login_refused']);
      expect(unready.reasons.join()).toMatch(/rejects the login of \w+/);
    } finally {
      await stack.database.query(`grant connect on database ${name} to public`);
    }
    await until('it is ready again', async () => (await readiness(ops)).status === 200);
  });

  it('reports not ready without heartbeats, merchants get 503, and both recover', async () => {
    const extra = await startExtra('api', PRODUCTION_DEADLINES);
    const client = stack.api.at(extra.url);
    await stack.database.query('revoke execute on function caudal.now() from caudal_system');
    try {
      await until('the process has noticed that heartbeats are missing', async () => {
        const { status, reasons } = await readiness(extra.opsUrl);
        return status === 503 && reasons.join().includes('has not answered heartbeats');
      });
      const rejected = await client.strict.get('/pse/banks');
      expect(rejected.status).toBe(503);
      expect(rejected.body['code']).toBe('service_unavailable');
      expect(rejected.headers.get('retry-after')).toBe('1');
      expect((await fetch(`${extra.opsUrl}/livez`)).status).toBe(200);
    } finally {
      await stack.database.query('grant execute on function caudal.now() to caudal_system');
    }
    for (const opsUrl of [extra.opsUrl, ops])
      await until('it is ready again', async () => (await readiness(opsUrl)).status === 200);
    expect((await client.get('/pse/banks')).status).toBe(200);
  });
});

describe('metrics', () => {
  it('of an API count by route and never by resource', async () => {
    const created = await stack.api.post('/payins', brebPayin());
    const id = String(created.body['id']);
    await stack.api.get(`/payins/${id}`);
    const { headers } = await fetch(`${ops}/metrics`);
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    // A request is counted after its answer was sent.
    const text = await until('the request is counted', async () => {
      const metrics = await (await fetch(`${ops}/metrics`)).text();
      return (
        /^caudal_http_request_seconds_count\{method="GET",route="\/payins\/:id",status="200"\} [1-9]/m.test(
          metrics,
        ) && metrics
      );
    });
    expect(text).toMatch(/^caudal_payin_batch_size_sum [1-9]/m);
    // A label per payin or merchant would grow without limit and expose merchants to monitoring tools.
    expect(text).not.toContain(id);
    expect(text).not.toContain(stack.organization.organizationId);
  });

  it('do not grow with unknown paths', async () => {
    const scrape = async () => {
      const text = await (await fetch(`${ops}/metrics`)).text();
      const count = /^caudal_http_request_seconds_count\{method="GET",route="none",status="404"\} (\d+)$/m;
      return { lines: text.split('\n').length, requests: Number(count.exec(text)?.[1] ?? 0) };
    };
    const afterRequests = (count: number) =>
      until('the requests are counted', async () => {
        const current = await scrape();
        return current.requests >= count && current;
      });
    await stack.api.get('/made-up/0');
    const before = await afterRequests(1);
    for (let index = 1; index <= 20; index += 1) await stack.api.get(`/made-up/${index}?q=${index}`);
    expect((await afterRequests(before.requests + 20)).lines).toBe(before.lines);
  });
});

describe('the role "all"', () => {
  it('serves merchants and processes due work in one process', async () => {
    const all = await startExtra('all');
    expect(await readiness(all.opsUrl)).toEqual({ status: 200, codes: [], reasons: [] });
    const created = await stack.api.at(all.url).post('/payins', brebPayin());
    expect(created.status).toBe(201);
    // As if a process died before it registered the key: only a worker finds it.
    const left = await stack.api.at(all.url).post('/payins', brebPayin());
    await stack.database.query(
      `update caudal.breb_keys set registered_at = null, register_due_at = caudal.now(), leased_until = null,
       lease_token = null where payin_id = $1`,
      [left.body['id']],
    );
    await until('both keys are registered', async () => {
      const ids = [created.body['id'], left.body['id']];
      return (
        (await countRows('caudal.breb_keys where payin_id = any($1) and registered_at is not null', [
          ids,
        ])) === 2
      );
    });
    const metrics = await (await fetch(`${all.opsUrl}/metrics`)).text();
    expect(metrics).toContain('caudal_breb_keys_waiting ');
    expect(metrics).toContain('caudal_breb_keys_waiting_oldest_seconds ');
    expect(await all.stop()).toBe(0);
  });
});

describe('the log', () => {
  const ALLOWED = new Set(
    `level time role msg requestId method route status durationMs code reason organizationId keyId clientAddress port opsPort
     environment cell signal rail count operation errorType errorMessage sqlState constraint table statement frames attempt
     circuit payinId ageMs version host pid`.split(/\s+/),
  );

  it('has JSON lines of known fields, the request ID of every response and no personal data', async () => {
    const reference = newReference();
    const callbackUrl = 'https://shop.example.com/thanks?customer=secret-of-the-shop';
    const answers = [
      await stack.api.post('/payins', brebPayin({ reference, callbackUrl }), {
        'idempotency-key': 'key-of-ana',
      }),
      await stack.api.post('/payins', psePayin({ inlineCustomer: { ...CUSTOMER, idNumber: '1000000001' } })),
      await stack.api.post('/payins', brebPayin({ inlineCustomer: { ...CUSTOMER, phone: 'not a phone' } })),
      await stack.api.get(`/payins/${CUSTOMER.email}`),
      await stack.api.get(`/customers/${CUSTOMER.phone}?email=${CUSTOMER.email}`),
      await stack.api.as(`${stack.organization.apiKey}x`).get('/payins'),
    ];
    /** Complete lines: the last one may still be on its way. */
    const output = () => /^.*\n/s.exec(stack.apis[0]?.output() ?? '')?.[0] ?? '';
    // The log is flushed every second.
    await until('the log contains all requests', async () =>
      answers.every(({ headers }) => output().includes(headers.get('x-request-id') ?? '-')),
    );
    const lines = output().trim().split('\n').slice(1);
    expect(lines.length).toBeGreaterThanOrEqual(answers.length);
    for (const line of lines) {
      const fields = Object.keys(JSON.parse(line) as object);
      expect(fields.filter((name) => !ALLOWED.has(name))).toEqual([]);
    }
    const one = lines.find((line) => line.includes(answers[0]?.headers.get('x-request-id') ?? '-'));
    expect(JSON.parse(one ?? '')).toMatchObject({
      level: 'info',
      role: 'api',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/) as string,
      host: hostname(),
      pid: expect.any(Number) as number,
      msg: 'request',
      payinId: answers[0]?.body['id'],
      method: 'POST',
      route: '/payins',
      status: 201,
      organizationId: stack.organization.organizationId,
      keyId: stack.organization.keyId,
    });
    const secrets = [
      ...Object.values(CUSTOMER).filter((value) => value !== CUSTOMER.idType),
      'Rojas',
      '3001234567',
      '1000000001',
      reference,
      'secret-of-the-shop',
      'key-of-ana',
      'not a phone',
      'cdl_test_',
      stack.organization.apiKey.slice(26, 40),
      stack.settings['CAUDAL_MASTER_KEY'] ?? '-',
    ];
    expect(secrets.filter((secret) => output().includes(secret))).toEqual([]);
  });
});

describe('the request ID', () => {
  it('is on every response, always new, and the same in a problem and in the header', async () => {
    const key = { 'x-api-key': stack.organization.apiKey };
    const json = { 'content-type': 'application/json' };
    const big = JSON.stringify({ reference: 'x'.repeat(70_000) });
    const requests: readonly (readonly [number, string, string, RequestInit])[] = [
      [200, 'GET', '/pse/banks', { headers: key }],
      [200, 'HEAD', '/pse/banks', { headers: key }],
      [200, 'GET', '/openapi.json', {}],
      [200, 'GET', '/docs', {}],
      [200, 'GET', '/docs/errors/not_found', {}],
      [404, 'GET', '/docs/errors/made_up', {}],
      [201, 'POST', '/payins', { headers: { ...key, ...json }, body: JSON.stringify(brebPayin()) }],
      [400, 'POST', '/payins', { headers: { ...key, ...json }, body: '{}' }],
      [400, 'POST', '/payins', { headers: { ...key, ...json }, body: '{' }],
      [400, 'GET', '/payins?pageSize=0', { headers: key }],
      [401, 'GET', '/payins', {}],
      [401, 'POST', '/payins', { headers: json, body: '{' }],
      [404, 'GET', '/nowhere', {}],
      [404, 'GET', '/payins/%ff', { headers: key }],
      [405, 'DELETE', '/payins', { headers: key }],
      [405, 'OPTIONS', '/payins', {}],
      [413, 'POST', '/payins', { headers: { ...key, ...json }, body: big }],
      [415, 'POST', '/payins', { headers: { ...key, 'content-type': 'text/plain' }, body: 'x' }],
    ];
    const answers = await Promise.all(
      requests.map(async ([, method, path, init]) => {
        const response = await fetch(api + path, { ...init, method });
        const text = await response.text();
        const type = response.headers.get('content-type') ?? '';
        const problem = type.includes('problem+json') ? (JSON.parse(text) as Record<string, unknown>) : null;
        return { method, path, status: response.status, id: response.headers.get('x-request-id'), problem };
      }),
    );
    expect(answers.map(({ method, path, status }) => [status, method, path])).toEqual(
      requests.map(([status, method, path]) => [status, method, path]),
    );
    expect(answers.filter(({ id }) => !/^req_[0-9A-HJKMNP-TV-Z]{20}$/.test(id ?? ''))).toEqual([]);
    expect(new Set(answers.map(({ id }) => id)).size).toBe(answers.length);
    for (const { status, path, id, problem } of answers) {
      const isProblem = status >= 400 && !path.startsWith('/docs');
      expect({ path, requestId: problem?.['requestId'] }).toEqual({
        path,
        requestId: isProblem ? id : undefined,
      });
    }
  });

  it('comes with the right problem when an identifier is too long', async () => {
    const answers = [
      await stack.api.get('/payins/nonsense'),
      await stack.api.get(`/payins/${'a'.repeat(300)}`),
    ];
    expect(answers[1]?.body['code']).toBe(answers[0]?.body['code']);
    expect(answers[1]?.status).toBe(answers[0]?.status);
  });

  it('is the one that the client sends, also in a problem', async () => {
    const { headers } = await stack.api.get('/pse/banks', { 'x-request-id': 'shop-4711' });
    expect(headers.get('x-request-id')).toBe('shop-4711');
    const { body } = await stack.api.get('/payins/nonsense', { 'x-request-id': 'shop-4712' });
    expect(body['requestId']).toBe('shop-4712');
  });

  it('is not one of ours that the client chose', async () => {
    const answer = await stack.api.get('/pse/banks', { 'x-request-id': 'req_OFSOMEBODYELSE0000000' });
    expect(answer.headers.get('x-request-id')).not.toBe('req_OFSOMEBODYELSE0000000');
  });

  it.each([
    [
      'a header that is too large',
      `GET /payins HTTP/1.1\r\nhost: x\r\nidempotency-key: ${'k'.repeat(20_000)}\r\n\r\n`,
    ],
    ['a request that is not HTTP', 'HELLO\r\n\r\n'],
  ])('is on the problem that answers %s', async (_, request) => {
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(Number(new URL(api).port), '127.0.0.1', () => socket.write(request));
      let text = '';
      socket.setEncoding('latin1').on('data', (part: string) => (text += part));
      socket.once('close', () => resolve(text));
      socket.once('error', reject);
    });
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer.toLowerCase()).toMatch(/\r\nx-request-id: req_/);
    expect(answer).toContain('application/problem+json');
  });
});

describe('openapi.json', () => {
  type Json = Record<string, unknown>;
  interface OperationJson extends Json {
    readonly operationId?: string;
    readonly tags?: string[];
    readonly security?: Json[];
    readonly parameters?: { name: string; in: string }[];
    readonly responses?: Record<string, Json>;
    readonly 'x-problem-codes'?: string[];
  }
  let document: Json & {
    paths: Record<string, Record<string, OperationJson>>;
    components: { schemas: Json; securitySchemes: Json };
    servers: { url: string }[];
    tags: { name: string }[];
    webhooks: Record<string, { post: OperationJson }>;
  };
  let operations: { path: string; method: string; operation: OperationJson }[];
  beforeAll(async () => {
    const response = await fetch(`${api}/openapi.json`);
    document = (await response.json()) as typeof document;
    operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  });

  /** Every object in the document with its JSON pointer. */
  function walk(value: unknown, pointer = '#'): { pointer: string; object: Json }[] {
    if (Array.isArray(value)) return value.flatMap((item, index) => walk(item, `${pointer}/${index}`));
    if (value === null || typeof value !== 'object') return [];
    const object = value as Json;
    const inside = Object.entries(object).flatMap(([name, member]) => walk(member, `${pointer}/${name}`));
    return [{ pointer, object }, ...inside];
  }

  function resolve(reference: string): unknown {
    return reference
      .replace(/^#\//, '')
      .split('/')
      .reduce<unknown>((at, name) => (at as Json | undefined)?.[name], document);
  }

  it('is version 3.1 for this server and contains every operation', () => {
    expect(document).toMatchObject({ openapi: '3.1.0', info: { version: '1.0' } });
    expect(document.servers).toEqual([{ url: stack.settings['CAUDAL_BASE_URL'] }]);
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      OPERATIONS.map(({ path, method }) => `${method} ${path}`).sort(),
    );
  });

  it('has one webhook per event, with the signature headers and the body that is sent', () => {
    expect(Object.keys(document.webhooks)).toEqual([...EVENT_NAMES, TEST_EVENT]);
    for (const [event, { post }] of Object.entries(document.webhooks)) {
      expect(post.parameters?.map(({ name }) => name)).toEqual(
        Object.keys(signatureHeaders({ id: '', timestamp: new Date(0), body: Buffer.alloc(0) }, [])),
      );
      expect(Object.keys(post.responses ?? {}).sort()).toEqual(['2XX', '410', 'default']);
      const { content } = post['requestBody'] as { content: Record<string, { schema: Json; example: Json }> };
      const { schema, example } = content['application/json'] ?? { schema: {}, example: {} };
      expect(resolve(String(schema['$ref']))).toMatchObject({ properties: { event: { const: event } } });
      expect(eventSchema.parse(example)).toMatchObject({ event, resource: event.split('.')[0] });
    }
  });

  it('has no unresolved reference', () => {
    const references = walk(document).flatMap(({ object }) =>
      typeof object['$ref'] === 'string' ? [object['$ref']] : [],
    );
    expect(references.length).toBeGreaterThan(10);
    expect(references.filter((reference) => resolve(reference) === undefined)).toEqual([]);
  });

  it('has no unused schema', () => {
    const references = new Set(walk(document).map(({ object }) => object['$ref']));
    const unused = Object.keys(document.components.schemas).filter(
      (name) => !references.has(`#/components/schemas/${name}`),
    );
    expect(unused).toEqual([]);
  });

  it('names every operation once and assigns it to a described tag', () => {
    const ids = operations.map(({ operation }) => operation.operationId);
    expect(ids.every((id) => /^[a-z][A-Za-z]+$/.test(id ?? ''))).toBe(true);
    expect(new Set(ids).size).toBe(ids.length);
    const tags = new Set(document.tags.map((tag) => tag.name));
    expect(operations.filter(({ operation }) => !operation.tags?.every((tag) => tags.has(tag)))).toEqual([]);
  });

  it('declares every path parameter, and no parameter twice', () => {
    for (const { path, operation } of operations) {
      const parameters = operation.parameters ?? [];
      const declared = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name);
      expect(declared.sort()).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name).sort());
      expect(new Set(parameters.map(({ name, in: where }) => `${where}:${name}`)).size).toBe(
        parameters.length,
      );
    }
  });

  it('documents only existing problems, each under its status, next to a success', () => {
    for (const { path, operation } of operations) {
      const success = path === '/events/stream' ? 'text/event-stream' : 'application/json';
      const responses = operation.responses ?? {};
      const codes = operation['x-problem-codes'] ?? [];
      expect(codes.length).toBeGreaterThan(0);
      for (const code of codes) {
        const entry = ERRORS[code as keyof typeof ERRORS] as { status: number } | undefined;
        expect({ code, known: entry !== undefined }).toEqual({ code, known: true });
        expect(String(responses[String(entry?.status)]?.['description'])).toContain(`\`${code}\``);
      }
      expect(Object.keys(responses).some((status) => status.startsWith('2'))).toBe(true);
      for (const [status, response] of Object.entries(responses)) {
        const types = Object.keys(response['content'] as Json);
        expect(types).toEqual([status.startsWith('2') ? success : 'application/problem+json']);
      }
    }
  });

  it('uses only declared security schemes, and every merchant operation requires one', () => {
    const schemes = Object.keys(document.components.securitySchemes);
    for (const { path, operation } of operations) {
      const used = (operation.security ?? []).flatMap((each) => Object.keys(each));
      expect(used.length).toBeGreaterThan(0);
      expect(used.filter((name) => !schemes.includes(name))).toEqual([]);
      const open = operation.security?.some((each) => Object.keys(each).length === 0) ?? true;
      expect({ path, open }).toEqual({ path, open: path === '/oauth/token' });
    }
  });

  it('requires only existing properties', () => {
    for (const { pointer, object } of walk(document.components.schemas)) {
      if (!Array.isArray(object['required']) || pointer.includes('/example')) continue;
      const members = Object.keys(object['properties'] ?? {});
      expect({
        pointer,
        missing: object['required'].filter((name) => !members.includes(String(name))),
      }).toEqual({
        pointer,
        missing: [],
      });
    }
  });

  it('equals the copy in docs/reference except for the server URL', () => {
    const [{ url }] = document['servers'] as [{ readonly url: string }];
    const committed = readFileSync(new URL('../../../docs/reference/openapi.json', import.meta.url), 'utf8');
    expect(document).toEqual(JSON.parse(committed.replaceAll('https://api.example.com', url)));
  });
});

/** With and without the built site; docs-routes.test.ts and the tests of docs/ cover its content. */
describe('the pages of /docs', () => {
  it('exist for every problem in both languages', async () => {
    for (const [code, { title }] of Object.entries(ERRORS)) {
      for (const language of ['en', 'es'] as const) {
        const response = await fetch(`${api}/docs/errors/${code}?lang=${language}`);
        const page = await response.text();
        expect({ code, status: response.status }).toEqual({ code, status: 200 });
        expect(response.headers.get('content-language')).toBe(language);
        expect(response.headers.get('x-content-type-options')).toBe('nosniff');
        expect(page).toContain(code);
        expect(page).toContain(title[language]);
      }
    }
  });

  it('return 404 for an unknown code', async () => {
    expect((await fetch(`${api}/docs/errors/made_up`)).status).toBe(404);
  });

  it("are the target of a problem's type", async () => {
    const problem = await stack.api.get('/nowhere');
    const type = String(problem.body['type']);
    expect(type).toBe(`${api}/docs/errors/not_found`);
    expect(await (await fetch(type)).text()).toContain('not_found');
  });

  it('follow the browser language', async () => {
    const response = await fetch(`${api}/docs/errors/not_found`, {
      headers: { 'accept-language': 'es-CO,es' },
    });
    expect(await response.text()).toContain(ERRORS.not_found.title.es);
  });
});
