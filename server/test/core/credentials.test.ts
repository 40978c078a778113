import { crc32 } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { expectWithin, stopwatch } from '../../../scripts/testing/expect-within.ts';
import { fc } from '../../../scripts/testing/property.ts';
import { readConfig } from '../../src/config.ts';
import { keyFromSecret } from '../../src/kit/crypto.ts';
import type { Environment } from '../../src/kit/environment.ts';
import { base62Digits, cellFromCode, MAX_CELL } from '../../src/kit/ids.ts';
import {
  credentialMac,
  deriveTagKey,
  makeCredential,
  readCredential,
} from '../../src/organizations/credential.ts';
import { ApiClient } from '../harness/api-client.ts';
import { emptyDatabase } from '../harness/empty-database.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin, CUSTOMER, without } from '../harness/payin-requests.ts';
import { type ExitResult, runToEnd } from '../harness/run-server.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** Requires a credential but no database query. */
const PATH = '/pse/banks';

let stack: Stack;
const extras: Child[] = [];
beforeAll(async () => {
  stack = await startStack({ apis: 2 });
});
afterAll(async () => {
  await Promise.all(extras.map((child) => child.stop()));
  await stack?.stop();
});

interface NewKey {
  readonly keyId: string;
  readonly apiKey: string;
}

async function newKey(organizationId: string, ...args: readonly string[]): Promise<NewKey> {
  const created = await operator('keys', 'create', '--org', organizationId, '--name', 'k', '--json', ...args);
  return JSON.parse(created.stdout) as NewKey;
}

async function newOrganization(...args: readonly string[]): Promise<NewKey & { organizationId: string }> {
  const created = await operator(
    'org',
    'create',
    '--name',
    'Tienda',
    '--support',
    'a@b.co',
    '--json',
    ...args,
  );
  return JSON.parse(created.stdout) as NewKey & { organizationId: string };
}

/** A client of each API process with this credential. */
function createClients(headers: Readonly<Record<string, string>>): ApiClient[] {
  return stack.apis.map((api) => new ApiClient(api.url, headers));
}

async function requestToken({ keyId, apiKey }: NewKey): Promise<string> {
  const answer = await stack.api
    .at(stack.apis[0]?.url ?? '')
    .request<{ access_token: string }>('POST', '/oauth/token', {
      raw: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: keyId,
        client_secret: apiKey,
      }).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  expect(answer.status).toBe(200);
  return answer.body.access_token;
}

async function readStatuses(clients: readonly ApiClient[]): Promise<number[]> {
  return (await Promise.all(clients.map((client) => client.get(PATH)))).map((answer) => answer.status);
}

/** Starts another API on the same database with changed settings. */
async function extraApi(
  changes: Readonly<Record<string, string>>,
): Promise<Child & { readonly url: string }> {
  const child = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0', ...changes });
  extras.push(child);
  return { ...child, url: `http://127.0.0.1:${String(child.ready['port'])}` };
}

/** Runs an operator command and returns its result, also a failure. */
function operator(...args: readonly string[]): Promise<ExitResult> {
  return runOperatorCommand(stack.settings, ...args);
}

describe('the text of a credential', () => {
  const cell = fc.integer({ min: 0, max: MAX_CELL });
  const kind = fc.constantFrom('key' as const, 'token' as const);
  const environment = fc.constantFrom('development' as const, 'staging' as const, 'production' as const);

  const pepper = keyFromSecret('a pepper of this test, long enough for it');
  const tagKeys = [deriveTagKey(pepper)];

  it('parses back and contains its mode and cell', () => {
    fc.assert(
      fc.property(kind, environment, cell, (kindOfCredential, environmentOfCredential, at) => {
        const created = makeCredential(kindOfCredential, environmentOfCredential, at, pepper);
        const parsed = readCredential(created.text, environmentOfCredential, tagKeys);
        expect(parsed).toEqual({ ...created, ending: 'tag' });
        expect(
          created.text.startsWith(environmentOfCredential === 'production' ? 'cdl_live_' : 'cdl_test_'),
        ).toBe(true);
        expect(cellFromCode(created.id)).toBe(at);
      }),
    );
  });

  it('of staging is invalid in production, and the reverse', () => {
    fc.assert(
      fc.property(kind, cell, (kindOfCredential, at) => {
        const made = (of: Environment) => makeCredential(kindOfCredential, of, at, pepper).text;
        expect(readCredential(made('staging'), 'production', tagKeys)).toBeNull();
        expect(readCredential(made('production'), 'staging', tagKeys)).toBeNull();
      }),
    );
  });

  it('has no valid tag when any character is changed', () => {
    const { text } = makeCredential('key', 'development', 1, pepper);
    const accepted: string[] = [];
    for (let place = 0; place < text.length; place += 1) {
      for (const character of 'ABCXYZabcxyz0189_-. ') {
        const changed = text.slice(0, place) + character + text.slice(place + 1);
        if (changed !== text && readCredential(changed, 'development', tagKeys)?.ending === 'tag')
          accepted.push(changed);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('has a tag that another pepper cannot make; both peppers of a rotation can', () => {
    const { text } = makeCredential('key', 'development', 1, pepper);
    const other = deriveTagKey(keyFromSecret('another pepper of this test, long enough'));
    expect(readCredential(text, 'development', [other])?.ending).toBe('other');
    expect(readCredential(text, 'development', [other, ...tagKeys])?.ending).toBe('tag');
    expect(readCredential(withChecksum(text), 'development', tagKeys)?.ending).toBe('crc');
  });

  it('contains 256 random bits', () => {
    const secrets = Array.from({ length: 2000 }, () =>
      makeCredential('key', 'development', 1, pepper).text.slice(26, 69),
    );
    expect(new Set(secrets).size).toBe(2000);
    expect(secrets.every((secret) => /^[0-9A-Za-z]{43}$/.test(secret))).toBe(true);
    expect(43 * Math.log2(62)).toBeGreaterThan(256);
  });
});

/** The same credential as versions before 0.2 wrote it. */
function withChecksum(text: string): string {
  const body = text.slice(0, -6);
  return body + base62Digits(crc32(body), 6);
}

describe('org create', () => {
  it('prints the API key once and stores only its hash', async () => {
    const { code, stdout } = await runToEnd(
      ['org', 'create', '--name', 'Café Ñandú', '--support', 'a@b.co'],
      stack.settings,
    );
    expect(code).toBe(0);
    const keys = stdout.match(/cdl_test_[0-9A-Z]{16}_[0-9A-Za-z]{49}/g) ?? [];
    expect(keys).toHaveLength(1);
    expect(stdout).toContain('shown once');
    const [key = ''] = keys;
    const [row] = await stack.database.query<{ row: string; rails: string[] }>(
      `select k::text as row, o.rails from caudal.api_keys k join caudal.organizations o on o.id = k.organization_id
       where o.name = 'Café Ñandú'`,
    );
    expect(row?.rails).toEqual(['BRE_B', 'PSE']);
    expect(row?.row).toContain(key.slice(9, 25));
    expect(row?.row).not.toContain(key.slice(26, 40));
    expect(await readStatuses(createClients({ 'x-api-key': key }))).toEqual([200, 200]);
  });

  it('prints one JSON document with --json', async () => {
    const { code, stdout } = await operator('org', 'create', '--name', 'X', '--support', 'y', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      organizationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      keyId: expect.stringMatching(/^[0-9A-Z]{16}$/),
      apiKey: expect.stringMatching(/^cdl_test_/),
    });
  });

  it('enables only the given rails', async () => {
    const { apiKey } = await newOrganization('--rails', 'PSE');
    const answer = await stack.api.as(apiKey).post('/payins', brebPayin());
    expect(answer.body['code']).toBe('rail_not_enabled');
  });
});

describe('an additional API key', () => {
  it('works on every process immediately, with only its scopes', async () => {
    const { organizationId } = await newOrganization();
    const { apiKey } = await newKey(organizationId, '--scopes', 'payins:read');
    expect(await readStatuses(createClients({ 'x-api-key': apiKey }))).toEqual([200, 200]);
    const rejected = await stack.api.as(apiKey).post('/payins', brebPayin());
    expect(rejected.status).toBe(403);
    expect(rejected.body).toMatchObject({ code: 'insufficient_scope', requiredScope: 'payins:write' });
  });
});

describe('a revoked API key', () => {
  interface ObservedStatus {
    readonly at: number;
    readonly status: number;
  }

  /** Repeats a request until it is rejected; records every status with its request time. */
  async function requestUntilRejected(
    client: ApiClient,
    elapsedMs: () => number,
    observed: ObservedStatus[],
  ): Promise<void> {
    await until('the credential is rejected', async () => {
      const at = elapsedMs();
      const { status } = await client.get(PATH);
      observed.push({ at, status });
      return status === 401;
    });
  }

  it('stops within a second on every process, together with its tokens', async () => {
    const { organizationId, apiKey: otherKey } = await newOrganization();
    const key = await newKey(organizationId);
    const token = await requestToken(key);
    const clients = [
      ...createClients({ 'x-api-key': key.apiKey }),
      ...createClients({ authorization: `Bearer ${token}` }),
    ];
    expect(await readStatuses(clients)).toEqual([200, 200, 200, 200]);

    const elapsedMs = stopwatch();
    const observations = clients.map((): ObservedStatus[] => []);
    const requesting = Promise.all(
      clients.map((client, index) => requestUntilRejected(client, elapsedMs, observations[index] ?? [])),
    );
    await until('each credential was used again', async () =>
      observations.every((observed) => observed.length > 0),
    );
    // The second starts when the commit is visible to others; the command has not returned by then.
    const committed = until('the revocation is committed', async () => {
      const rows = await stack.database.query(
        'select from caudal.api_keys where id = $1 and revoked_at is not null',
        [key.keyId],
      );
      return rows.length > 0 && elapsedMs();
    });
    await stack.command('keys', 'revoke', key.keyId);
    const returnedAt = elapsedMs();
    const committedAt = await committed;
    await requesting;

    for (const observed of observations) {
      const accepted = observed.filter(({ status }) => status === 200).map(({ at }) => at);
      expect(accepted.length).toBeGreaterThan(0);
      expectWithin('the last accepted request after the commit', Math.max(...accepted) - committedAt, 1000);
      expectWithin(
        'the first rejected request after the command',
        (observed.at(-1)?.at ?? Number.NaN) - returnedAt,
        1000,
      );
    }
    // Other keys of the same organization are not affected.
    expect(await readStatuses(createClients({ 'x-api-key': otherKey }))).toEqual([200, 200]);
    // The rejection is permanent.
    expect(await readStatuses(clients)).toEqual([401, 401, 401, 401]);
  });

  it('returns the same problem as an unknown key', async () => {
    const { organizationId } = await newOrganization();
    const key = await newKey(organizationId);
    await stack.command('keys', 'revoke', key.keyId);
    const unknown = makeCredential('key', 'development', 1, pepperOf(stack)).text;
    const bodies = await Promise.all(
      [key.apiKey, unknown].map(async (text) =>
        without((await stack.api.as(text).get(PATH)).body, 'requestId'),
      ),
    );
    expect(bodies[0]).toMatchObject({ status: 401, code: 'unauthorized' });
    expect(bodies[1]).toEqual(bodies[0]);
  });

  it('cannot be revoked twice', async () => {
    const { keyId } = await newOrganization();
    expect(await operator('keys', 'revoke', keyId)).toMatchObject({ code: 0, stderr: '' });
    const again = await operator('keys', 'revoke', keyId);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain(`there is no live key ${keyId}`);
  });

  it('is never only one of several named keys', async () => {
    const { organizationId } = await newOrganization();
    const [first, second] = [await newKey(organizationId), await newKey(organizationId)];
    const { code } = await operator('keys', 'revoke', first.keyId, second.keyId);
    const revoked = await stack.database.query(
      'select from caudal.api_keys where id = any($1) and revoked_at is not null',
      [[first.keyId, second.keyId]],
    );
    // Reject both or revoke both: an operator who sees exit 0 assumes that both are revoked.
    expect({ code, revoked: revoked.length }).toEqual(
      code === 0 ? { code: 0, revoked: 2 } : { code: 2, revoked: 0 },
    );
  });
});

describe('keys list', () => {
  it('shows the last use of a key once its process has stopped, and never a secret', async () => {
    const { organizationId, apiKey, keyId } = await newOrganization();
    const idle = await newKey(organizationId);
    const api = await extraApi({});
    expect((await new ApiClient(api.url, { 'x-api-key': apiKey }).get(PATH)).status).toBe(200);
    expect(await api.stop()).toBe(0);
    const text = await operator('keys', 'list', '--org', organizationId);
    const json = await operator('keys', 'list', '--org', organizationId, '--json');
    const lines = text.stdout.trim().split('\n');
    expect(lines.find((line) => line.startsWith(keyId))).toMatch(/live +used \d{4}-\d\d-\d\dT/);
    expect(lines.find((line) => line.startsWith(idle.keyId))).toContain('never used');
    expect(JSON.parse(json.stdout)).toHaveLength(2);
    for (const { stdout } of [text, json]) {
      expect(stdout).not.toContain('cdl_');
      expect(stdout).not.toMatch(/"mac"/);
      for (const secret of [apiKey, idle.apiKey]) expect(stdout).not.toContain(secret.slice(26, 40));
    }
  });
});

describe('cached credentials', () => {
  it('need no query: they work even when api_keys is unreadable', async () => {
    const { apiKey } = await newOrganization();
    const otherOrganization = await newOrganization();
    const client = stack.api.as(apiKey);
    expect((await client.get(PATH)).status).toBe(200);
    // The process reads the ids of all keys when it meets the first made-up one.
    for (const garbage of madeUp(1)) expect((await client.as(garbage).get(PATH)).status).toBe(401);
    await stack.database.query('revoke select on caudal.api_keys from caudal_system');
    try {
      const answers = await Promise.all(Array.from({ length: 50 }, () => client.get(PATH)));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      // An uncached credential needs the table, which proves that it is unreadable.
      expect((await client.as(otherOrganization.apiKey).get(PATH)).status).toBe(500);
      // Well-formed keys that this deployment did not make cause no query.
      for (const garbage of madeUp(5)) expect((await client.as(garbage).get(PATH)).status).toBe(401);
      // A known ID with another secret is not a cached key.
      const forged = `${apiKey.slice(0, 25)}${makeCredential('key', 'development', 1, pepperOf(stack)).text.slice(25)}`;
      expect((await client.as(forged).get(PATH)).status).toBe(401);
    } finally {
      await stack.database.query('grant select on caudal.api_keys to caudal_system');
    }
    expect((await client.as(otherOrganization.apiKey).get(PATH)).status).toBe(200);
  });
});

describe('a key made before keys had tags', () => {
  it('works, and so does a token', async () => {
    const { organizationId, apiKey, keyId } = await newOrganization();
    const old = withChecksum(apiKey);
    const mac = credentialMac({ kind: 'key', id: keyId, text: old }, pepperOf(stack));
    await stack.database.query('update caudal.api_keys set mac = $2 where id = $1', [keyId, mac]);
    // A process that has read the ids of all keys reads them again only after half a minute.
    const api = await extraApi({});
    const client = new ApiClient(api.url, { 'x-api-key': old });
    expect((await client.get(PATH)).status).toBe(200);
    expect((await client.as(apiKey).get(PATH)).status).toBe(401);
    const other = await newKey(organizationId);
    const token = await requestToken(other);
    const oldToken = withChecksum(token);
    const tokenId = oldToken.split('_')[3] ?? '';
    const tokenMac = credentialMac({ kind: 'token', id: tokenId, text: oldToken }, pepperOf(stack));
    await stack.database.query('update caudal.access_tokens set mac = $2 where id = $1', [tokenId, tokenMac]);
    const bearer = new ApiClient(api.url, { authorization: `Bearer ${oldToken}` });
    expect((await bearer.get(PATH)).status).toBe(200);
  });
});

function pepperOf({ settings }: Stack) {
  return keyFromSecret(settings['CAUDAL_KEY_PEPPER'] ?? '');
}

/** Keys as anybody can write them: right format, checksum of earlier versions. */
function madeUp(count: number): string[] {
  const pepper = keyFromSecret('a pepper of another deployment, long enough');
  return Array.from({ length: count }, () =>
    withChecksum(makeCredential('key', 'development', 1, pepper).text),
  );
}

describe('a secret rotation', () => {
  const NEW_PEPPER = 'dev-pepper-after-the-rotation-of-this-test';
  const NEW_MASTER = 'dev-master-key-after-the-rotation-of-this-test';

  it('of the pepper keeps older keys and tokens valid while the previous pepper is set', async () => {
    const { organizationId, keyId, apiKey } = await newOrganization();
    const token = await requestToken({ keyId, apiKey });
    const rotating = {
      CAUDAL_KEY_PEPPER: NEW_PEPPER,
      CAUDAL_KEY_PEPPER_PREVIOUS: stack.settings['CAUDAL_KEY_PEPPER'] ?? '',
    };
    const created = await runOperatorCommand(
      { ...stack.settings, ...rotating },
      'keys',
      'create',
      '--org',
      organizationId,
      '--name',
      'new',
      '--json',
    );
    const [during, after] = await Promise.all([
      extraApi(rotating),
      extraApi({ CAUDAL_KEY_PEPPER: NEW_PEPPER }),
    ]);
    const fresh = JSON.parse(created.stdout) as NewKey;
    const readAllStatuses = async (url: string) =>
      readStatuses([
        new ApiClient(url, { 'x-api-key': apiKey }),
        new ApiClient(url, { authorization: `Bearer ${token}` }),
        new ApiClient(url, { 'x-api-key': fresh.apiKey }),
      ]);
    // First, because the other process stores a used key under the new pepper sooner or later.
    expect(await readAllStatuses(after.url)).toEqual([401, 401, 200]);
    expect(await readAllStatuses(during.url)).toEqual([200, 200, 200]);
  });

  it('of the master key decrypts older data and encrypts new data', async () => {
    const created = await stack.api.post('/payins', brebPayin(), {
      'idempotency-key': 'before the rotation',
    });
    const { database } = readConfig('api', stack.settings);
    const api = await extraApi({
      CAUDAL_MASTER_KEY: NEW_MASTER,
      CAUDAL_MASTER_KEY_PREVIOUS: stack.settings['CAUDAL_MASTER_KEY'] ?? '',
      DATABASE_READ_URL: database.readUrl,
      DATABASE_BATCH_URL: database.batchUrl,
      DATABASE_SYSTEM_URL: database.systemUrl,
    });
    const client = stack.api.at(api.url);
    const read = await client.get(`/payins/${String(created.body['id'])}`);
    expect(read.body['inlineCustomer']).toEqual(CUSTOMER);
    const repeated = await client.post('/payins', brebPayin({ reference: created.body['reference'] }), {
      'idempotency-key': 'before the rotation',
    });
    expect(repeated.headers.get('idempotent-replayed')).toBe('true');
    expect(repeated.body['id']).toBe(created.body['id']);
    const fresh = await client.post('/payins', brebPayin());
    const readByOld = await stack.api.get(`/payins/${String(fresh.body['id'])}`);
    expect(readByOld.body['inlineCustomer']).toEqual(CUSTOMER);
  });

  it('of the master key keeps the database passwords while the previous key is set', async () => {
    // docs/reference/configuration.md documents one URL and a master key as a valid setup.
    const api = await extraApi({
      CAUDAL_MASTER_KEY: NEW_MASTER,
      CAUDAL_MASTER_KEY_PREVIOUS: stack.settings['CAUDAL_MASTER_KEY'] ?? '',
    });
    expect((await stack.api.at(api.url).get(PATH)).status).toBe(200);
  });
});

describe('invalid usage', () => {
  it('exits with 2 and a helpful message', async () => {
    const org = stack.organization.organizationId;
    const key = ['keys', 'create', '--org', org, '--name', 'k'];
    const create = ['org', 'create', '--name', 'X', '--support', 'y'];
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['orgs'], /no command "orgs".*caudal help/],
      [['keys', 'destroy'], /no command "keys destroy".*caudal help/],
      [['org', 'create', '--support', 'y'], /--name is missing.*caudal help/],
      [['org', 'create', '--name', 'X'], /--support is missing/],
      [[...create, '--accent', 'green'], /--accent must be a color such as #0f766e/],
      [[...create, '--rails', 'BRE_B,PIX'], /--rails: "PIX" is not one of BRE_B, PSE/],
      [[...create, '--category', '99'], /--category must be a merchant category of four digits/],
      [[...create, '--colour', '#0f766e'], /--colour/],
      [[...key, '--scopes', 'payins:all'], /--scopes: "payins:all" is not one of payins:read/],
      [[...key, '--days', 'ten'], /--days must be a number of days/],
      [['keys', 'list'], /--org is missing/],
      [['keys', 'revoke'], /needs the id of an API key/],
    ];
    for (const [args, message] of cases) {
      const { code, stdout, stderr } = await operator(...args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
      expect(stderr).toMatch(message);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  it('includes a key lifetime of zero days', async () => {
    const result = await operator(
      'keys',
      'create',
      '--org',
      stack.organization.organizationId,
      '--name',
      'k',
      '--days',
      '0',
    );
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('includes a surplus argument', async () => {
    const result = await operator('org', 'create', 'Tienda', '--name', 'X', '--support', 'y');
    expect({ code: result.code, stdout: result.stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('of an invalid or unknown organization has its own message instead of a PostgreSQL error', async () => {
    const unknownOrganization = '019b2c5e-0000-7000-8001-00000000dead';
    for (const organization of ['tienda-aurora', unknownOrganization]) {
      for (const command of [['list'], ['create', '--name', 'k']]) {
        const { code, stdout, stderr } = await operator('keys', ...command, '--org', organization);
        expect({ failed: code === 1 || code === 2, stdout }).toEqual({ failed: true, stdout: '' });
        expect(stderr).toMatch(/organization/);
        expect(stderr).not.toMatch(/syntax|violates|constraint|relation/);
      }
    }
  });
});

describe('an operator command with the settings of another deployment', () => {
  it('is rejected like the server, before anything is written', async () => {
    const create = ['org', 'create', '--name', 'Astray', '--support', 'y'];
    const results = [
      await runOperatorCommand({ ...stack.settings, CAUDAL_CELL: '2' }, ...create),
      await runOperatorCommand({ ...stack.settings, CAUDAL_ENV: 'staging' }, ...create),
    ];
    const written = await stack.database.query("select from caudal.organizations where name = 'Astray'");
    expect({ codes: results.map((result) => result.code), written: written.length }).toEqual({
      codes: [1, 1],
      written: 0,
    });
    for (const { stderr } of results) expect(stderr).toContain('belongs to development, cell 1');
  });

  it('reports that the database is not migrated', async () => {
    const database = await emptyDatabase();
    const result = await runOperatorCommand(
      { ...stack.settings, DATABASE_URL: database.ownerUrl },
      'org',
      'list',
    );
    await database.drop();
    expect(result.code).toBe(1);
    expect(result.stderr).toContain('migrate');
  });
});

// Last in the file: its time shift cannot be undone.
describe('the expiry of credentials', () => {
  it('uses business time: a token expires after its hour, a key after its days, others stay valid', async () => {
    const { organizationId, apiKey: withoutExpiry } = await newOrganization();
    const key = await newKey(organizationId, '--days', '1');
    const token = await requestToken(key);
    const byKey = createClients({ 'x-api-key': key.apiKey });
    const byToken = createClients({ authorization: `Bearer ${token}` });
    expect(await readStatuses([...byKey, ...byToken])).toEqual([200, 200, 200, 200]);
    const waitUntilRejected = (clients: readonly ApiClient[]) =>
      until('it is rejected on every process', async () =>
        (await readStatuses(clients)).every((status) => status === 401),
      );

    await stack.database.query("select caudal.shift_time(interval '61 minutes')");
    await waitUntilRejected(byToken);
    expect(await readStatuses(byKey)).toEqual([200, 200]);

    await stack.database.query("select caudal.shift_time(interval '23 hours')");
    await waitUntilRejected(byKey);
    expect(await readStatuses(createClients({ 'x-api-key': withoutExpiry }))).toEqual([200, 200]);
    const list = await operator('keys', 'list', '--org', organizationId);
    expect(list.stdout).toContain(key.keyId);
  });
});
