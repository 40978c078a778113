import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Child } from '../../../scripts/stack/child.ts';
import { startServer } from '../../../scripts/stack/processes.ts';
import { readConfig } from '../../src/config.ts';
import { cellFromCode, MAX_CELL } from '../../src/kit/ids.ts';
import { makeCredential, readCredential } from '../../src/organizations/credential.ts';
import { ApiClient } from '../harness/api-client.ts';
import { emptyDatabase } from '../harness/empty-database.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin, CUSTOMER, without } from '../harness/payin-requests.ts';
import { type Ended, runToEnd } from '../harness/run-server.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

/** Needs a credential and nothing else: no row of the database is read for it. */
const PATH = '/pse/banks';

let stack: Stack;
const extras: Child[] = [];
beforeAll(async () => {
  stack = await startStack({
    apis: 2,
    settings: { NODE_COMPILE_CACHE: join(tmpdir(), 'caudal-compile-cache') },
  });
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
  const made = await operator('keys', 'create', '--org', organizationId, '--name', 'k', '--json', ...args);
  return JSON.parse(made.stdout) as NewKey;
}

async function newOrganization(...args: readonly string[]): Promise<NewKey & { organizationId: string }> {
  const made = await operator('org', 'create', '--name', 'Tienda', '--support', 'a@b.co', '--json', ...args);
  return JSON.parse(made.stdout) as NewKey & { organizationId: string };
}

/** A client of each node, with this credential. */
function clientsOf(headers: Readonly<Record<string, string>>): ApiClient[] {
  return stack.apis.map((api) => new ApiClient(api.url, headers));
}

async function tokenOf({ keyId, apiKey }: NewKey): Promise<string> {
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

async function statuses(clients: readonly ApiClient[]): Promise<number[]> {
  return (await Promise.all(clients.map((client) => client.get(PATH)))).map((answer) => answer.status);
}

/** One more API on the same database, with other settings. */
async function extraApi(
  changes: Readonly<Record<string, string>>,
): Promise<Child & { readonly url: string }> {
  const child = await startServer('api', { ...stack.settings, CAUDAL_PORT: '0', ...changes });
  extras.push(child);
  return { ...child, url: `http://127.0.0.1:${String(child.ready['port'])}` };
}

/** A command of an operator, whatever becomes of it. */
function operator(...args: readonly string[]): Promise<Ended> {
  return runOperatorCommand(stack.settings, ...args);
}

describe('the text of a credential', () => {
  const cell = fc.integer({ min: 0, max: MAX_CELL });
  const kind = fc.constantFrom('key' as const, 'token' as const);
  const environment = fc.constantFrom('development' as const, 'staging' as const, 'production' as const);

  it('reads back as what was made, and names its mode and its cell', () => {
    fc.assert(
      fc.property(kind, environment, cell, (of, where, at) => {
        const made = makeCredential(of, where, at);
        expect(readCredential(made.text, where)).toEqual(made);
        expect(made.text.startsWith(where === 'production' ? 'cdl_live_' : 'cdl_test_')).toBe(true);
        expect(cellFromCode(made.id)).toBe(at);
      }),
    );
  });

  it('of staging is nothing in production, and the other way round', () => {
    fc.assert(
      fc.property(kind, cell, (of, at) => {
        expect(readCredential(makeCredential(of, 'staging', at).text, 'production')).toBeNull();
        expect(readCredential(makeCredential(of, 'production', at).text, 'staging')).toBeNull();
      }),
    );
  });

  it('is refused without a query when any one character of it is another', () => {
    const { text } = makeCredential('key', 'development', 1);
    const accepted: string[] = [];
    for (let place = 0; place < text.length; place += 1) {
      for (const character of 'ABCXYZabcxyz0189_-. ') {
        const changed = text.slice(0, place) + character + text.slice(place + 1);
        if (changed !== text && readCredential(changed, 'development') !== null) accepted.push(changed);
      }
    }
    expect(accepted).toEqual([]);
  });

  it('holds 256 bits that nobody has seen before', () => {
    const secrets = Array.from({ length: 2000 }, () =>
      makeCredential('key', 'development', 1).text.slice(26, 69),
    );
    expect(new Set(secrets).size).toBe(2000);
    expect(secrets.every((secret) => /^[0-9A-Za-z]{43}$/.test(secret))).toBe(true);
    expect(43 * Math.log2(62)).toBeGreaterThan(256);
  });
});

describe('org create', () => {
  it('prints the key once, in words, and keeps nothing of it but a hash', async () => {
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
    expect(await statuses(clientsOf({ 'x-api-key': key }))).toEqual([200, 200]);
  });

  it('prints one JSON document for programs', async () => {
    const { code, stdout } = await operator('org', 'create', '--name', 'X', '--support', 'y', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      organizationId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      keyId: expect.stringMatching(/^[0-9A-Z]{16}$/),
      apiKey: expect.stringMatching(/^cdl_test_/),
    });
  });

  it('takes the rails that are named and no other', async () => {
    const { apiKey } = await newOrganization('--rails', 'PSE');
    const answer = await stack.api.as(apiKey).post('/payins', brebPayin());
    expect(answer.body['code']).toBe('rail_not_enabled');
  });
});

describe('a further key', () => {
  it('works on every node at once, with the scopes it was given and no other', async () => {
    const { organizationId } = await newOrganization();
    const { apiKey } = await newKey(organizationId, '--scopes', 'payins:read');
    expect(await statuses(clientsOf({ 'x-api-key': apiKey }))).toEqual([200, 200]);
    const refused = await stack.api.as(apiKey).post('/payins', brebPayin());
    expect(refused.status).toBe(403);
    expect(refused.body).toMatchObject({ code: 'insufficient_scope', requiredScope: 'payins:write' });
  });
});

describe('a revoked key', () => {
  interface Sighting {
    readonly at: number;
    readonly status: number;
  }

  /** Asks again and again until it is told no; every answer with the time it was asked for. */
  async function askUntilRefused(client: ApiClient): Promise<Sighting[]> {
    const seen: Sighting[] = [];
    await until('the credential is refused', async () => {
      const at = performance.now();
      const { status } = await client.get(PATH);
      seen.push({ at, status });
      return status === 401;
    });
    return seen;
  }

  it('stops within a second on every node, and every token made from it too', async () => {
    const { organizationId, apiKey: otherKey } = await newOrganization();
    const key = await newKey(organizationId);
    const token = await tokenOf(key);
    const clients = [
      ...clientsOf({ 'x-api-key': key.apiKey }),
      ...clientsOf({ authorization: `Bearer ${token}` }),
    ];
    expect(await statuses(clients)).toEqual([200, 200, 200, 200]);

    const asking = Promise.all(clients.map(askUntilRefused));
    // The moment others can see it: from then the second counts, and the command has not even returned.
    const committed = until('the revocation is committed', async () => {
      const rows = await stack.database.query(
        'select from caudal.api_keys where id = $1 and revoked_at is not null',
        [key.keyId],
      );
      return rows.length > 0 && performance.now();
    });
    await stack.command('keys', 'revoke', key.keyId);
    const returnedAt = performance.now();
    const committedAt = await committed;
    const sightings = await asking;

    for (const seen of sightings) {
      const honoured = seen.filter(({ status }) => status === 200).map(({ at }) => at);
      expect(honoured.length).toBeGreaterThan(0);
      expect(Math.max(...honoured) - committedAt).toBeLessThan(1000);
      expect((seen.at(-1)?.at ?? Number.NaN) - returnedAt).toBeLessThan(1000);
    }
    // Nobody else is touched, not even another key of the same organization.
    expect(await statuses(clientsOf({ 'x-api-key': otherKey }))).toEqual([200, 200]);
    // And it stays so: what was forgotten is not remembered again.
    expect(await statuses(clients)).toEqual([401, 401, 401, 401]);
  });

  it('is a problem like that of a key that never was', async () => {
    const { organizationId } = await newOrganization();
    const key = await newKey(organizationId);
    await stack.command('keys', 'revoke', key.keyId);
    const unknown = makeCredential('key', 'development', 1).text;
    const bodies = await Promise.all(
      [key.apiKey, unknown].map(async (text) =>
        without((await stack.api.as(text).get(PATH)).body, 'requestId'),
      ),
    );
    expect(bodies[0]).toMatchObject({ status: 401, code: 'unauthorized' });
    expect(bodies[1]).toEqual(bodies[0]);
  });

  it('cannot be revoked twice, and the command says so', async () => {
    const { keyId } = await newOrganization();
    expect(await operator('keys', 'revoke', keyId)).toMatchObject({ code: 0, stderr: '' });
    const again = await operator('keys', 'revoke', keyId);
    expect(again.code).toBe(1);
    expect(again.stderr).toContain(`there is no live key ${keyId}`);
  });

  it('is never one of several that were named while the others live on', async () => {
    const { organizationId } = await newOrganization();
    const [first, second] = [await newKey(organizationId), await newKey(organizationId)];
    const { code } = await operator('keys', 'revoke', first.keyId, second.keyId);
    const revoked = await stack.database.query(
      'select from caudal.api_keys where id = any($1) and revoked_at is not null',
      [[first.keyId, second.keyId]],
    );
    // Refuse both or end both; an operator who saw exit 0 believes that both are ended.
    expect({ code, revoked: revoked.length }).toEqual(
      code === 0 ? { code: 0, revoked: 2 } : { code: 2, revoked: 0 },
    );
  });
});

describe('the list of keys', () => {
  it('shows when a key was last used, once the process that saw it has stopped, and never a secret', async () => {
    const { organizationId, apiKey, keyId } = await newOrganization();
    const idle = await newKey(organizationId);
    const api = await extraApi({});
    expect((await new ApiClient(api.url, { 'x-api-key': apiKey }).get(PATH)).status).toBe(200);
    expect(await api.stop()).toBe(0);
    const words = await operator('keys', 'list', '--org', organizationId);
    const json = await operator('keys', 'list', '--org', organizationId, '--json');
    const lines = words.stdout.trim().split('\n');
    expect(lines.find((line) => line.startsWith(keyId))).toMatch(/live +used \d{4}-\d\d-\d\dT/);
    expect(lines.find((line) => line.startsWith(idle.keyId))).toContain('never used');
    expect(JSON.parse(json.stdout)).toHaveLength(2);
    for (const text of [words.stdout, json.stdout]) {
      expect(text).not.toContain('cdl_');
      expect(text).not.toMatch(/"mac"/);
      for (const secret of [apiKey, idle.apiKey]) expect(text).not.toContain(secret.slice(26, 40));
    }
  });
});

describe('known credentials', () => {
  it('cost no query: they are honoured even where the table of keys cannot be read', async () => {
    const { apiKey } = await newOrganization();
    const stranger = await newOrganization();
    const client = stack.api.as(apiKey);
    expect((await client.get(PATH)).status).toBe(200);
    await stack.database.query('revoke select on caudal.api_keys from caudal_system');
    try {
      const answers = await Promise.all(Array.from({ length: 50 }, () => client.get(PATH)));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]));
      // One that is not known yet needs the table: so it really cannot be read.
      expect((await client.as(stranger.apiKey).get(PATH)).status).toBe(500);
      // Garbage does not get as far as a query.
      const garbage = `${stranger.apiKey.slice(0, -1)}${stranger.apiKey.endsWith('0') ? '1' : '0'}`;
      expect((await client.as(garbage).get(PATH)).status).toBe(401);
      // And the right id with another secret is no known key.
      const forged = `${apiKey.slice(0, 25)}${makeCredential('key', 'development', 1).text.slice(25)}`;
      expect((await client.as(forged).get(PATH)).status).toBe(401);
    } finally {
      await stack.database.query('grant select on caudal.api_keys to caudal_system');
    }
    expect((await client.as(stranger.apiKey).get(PATH)).status).toBe(200);
  });
});

describe('a rotation', () => {
  const NEW_PEPPER = 'dev-pepper-after-the-rotation-of-this-test';
  const NEW_MASTER = 'dev-master-key-after-the-rotation-of-this-test';

  it('of the pepper honours the keys and tokens made before it, as long as the previous one is set', async () => {
    const { organizationId, keyId, apiKey } = await newOrganization();
    const token = await tokenOf({ keyId, apiKey });
    const rotating = {
      CAUDAL_KEY_PEPPER: NEW_PEPPER,
      CAUDAL_KEY_PEPPER_PREVIOUS: stack.settings['CAUDAL_KEY_PEPPER'] ?? '',
    };
    const made = await runOperatorCommand(
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
    const fresh = JSON.parse(made.stdout) as NewKey;
    const ask = async (url: string) =>
      statuses([
        new ApiClient(url, { 'x-api-key': apiKey }),
        new ApiClient(url, { authorization: `Bearer ${token}` }),
        new ApiClient(url, { 'x-api-key': fresh.apiKey }),
      ]);
    expect(await ask(during.url)).toEqual([200, 200, 200]);
    expect(await ask(after.url)).toEqual([401, 401, 200]);
  });

  it('of the master key reads what was sealed before it and goes on sealing', async () => {
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

  it('of the master key leaves the passwords of the database alone while the previous one is set', async () => {
    // One address and a master key is how docs/reference/configuration.md says a server may be set up.
    const api = await extraApi({
      CAUDAL_MASTER_KEY: NEW_MASTER,
      CAUDAL_MASTER_KEY_PREVIOUS: stack.settings['CAUDAL_MASTER_KEY'] ?? '',
    });
    expect((await stack.api.at(api.url).get(PATH)).status).toBe(200);
  });
});

describe('wrong usage', () => {
  it('exits with 2 and a sentence that helps', async () => {
    const org = stack.organization.organizationId;
    const key = ['keys', 'create', '--org', org, '--name', 'k'];
    const create = ['org', 'create', '--name', 'X', '--support', 'y'];
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [['orgs'], /no command "orgs".*caudal help/],
      [['keys', 'destroy'], /no command "keys destroy".*caudal help/],
      [['org', 'create', '--support', 'y'], /--name is missing.*caudal help/],
      [['org', 'create', '--name', 'X'], /--support is missing/],
      [[...create, '--accent', 'green'], /--accent must be a color such as #0f766e/],
      [[...create, '--rails', 'BRE_B,PIX'], /--rails: "PIX" is none of BRE_B, PSE/],
      [[...create, '--category', '99'], /--category must be a merchant category of four digits/],
      [[...create, '--colour', '#0f766e'], /--colour/],
      [[...key, '--scopes', 'payins:all'], /--scopes: "payins:all" is none of payins:read/],
      [[...key, '--days', 'ten'], /--days must be a number of days/],
      [['keys', 'list'], /--org is missing/],
      [['keys', 'revoke'], /needs the id of a key/],
    ];
    for (const [args, said] of cases) {
      const { code, stdout, stderr } = await operator(...args);
      expect({ args, code, stdout }).toEqual({ args, code: 2, stdout: '' });
      expect(stderr).toMatch(said);
      expect(stderr).not.toMatch(/^\s+at /m);
    }
  });

  it('is a key that lives for no time at all', async () => {
    const end = await operator(
      'keys',
      'create',
      '--org',
      stack.organization.organizationId,
      '--name',
      'k',
      '--days',
      '0',
    );
    expect({ code: end.code, stdout: end.stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('is a word too many', async () => {
    const end = await operator('org', 'create', 'Tienda', '--name', 'X', '--support', 'y');
    expect({ code: end.code, stdout: end.stdout }).toEqual({ code: 2, stdout: '' });
  });

  it('about an organization that cannot be or is not there is told in our words, not in those of PostgreSQL', async () => {
    const nobody = '019b2c5e-0000-7000-8001-00000000dead';
    for (const organization of ['tienda-aurora', nobody]) {
      for (const command of [['list'], ['create', '--name', 'k']]) {
        const { code, stdout, stderr } = await operator('keys', ...command, '--org', organization);
        expect({ failed: code === 1 || code === 2, stdout }).toEqual({ failed: true, stdout: '' });
        expect(stderr).toMatch(/organization/);
        expect(stderr).not.toMatch(/syntax|violates|constraint|relation/);
      }
    }
  });
});

describe('an operator with the settings of another deployment', () => {
  it('is refused as the server is, before anything is written', async () => {
    const create = ['org', 'create', '--name', 'Astray', '--support', 'y'];
    const ends = [
      await runOperatorCommand({ ...stack.settings, CAUDAL_CELL: '2' }, ...create),
      await runOperatorCommand({ ...stack.settings, CAUDAL_ENV: 'staging' }, ...create),
    ];
    const written = await stack.database.query("select from caudal.organizations where name = 'Astray'");
    expect({ codes: ends.map((end) => end.code), written: written.length }).toEqual({
      codes: [1, 1],
      written: 0,
    });
    for (const { stderr } of ends) expect(stderr).toContain('belongs to development, cell 1');
  });

  it('is told to migrate when the database is not migrated', async () => {
    const database = await emptyDatabase();
    const end = await runOperatorCommand(
      { ...stack.settings, DATABASE_URL: database.ownerUrl },
      'org',
      'list',
    );
    await database.drop();
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('migrate');
  });
});

// Last in the file: what it does to time cannot be undone.
describe('the expiry of credentials', () => {
  it('is judged by business time: a token ends after its hour, a key after its days, others go on', async () => {
    const { organizationId, apiKey: endless } = await newOrganization();
    const key = await newKey(organizationId, '--days', '1');
    const token = await tokenOf(key);
    const byKey = clientsOf({ 'x-api-key': key.apiKey });
    const byToken = clientsOf({ authorization: `Bearer ${token}` });
    expect(await statuses([...byKey, ...byToken])).toEqual([200, 200, 200, 200]);
    const refused = (clients: readonly ApiClient[]) =>
      until('it is refused on every node', async () =>
        (await statuses(clients)).every((status) => status === 401),
      );

    await stack.database.query("select caudal.shift_time(interval '61 minutes')");
    await refused(byToken);
    expect(await statuses(byKey)).toEqual([200, 200]);

    await stack.database.query("select caudal.shift_time(interval '23 hours')");
    await refused(byKey);
    expect(await statuses(clientsOf({ 'x-api-key': endless }))).toEqual([200, 200]);
    const list = await operator('keys', 'list', '--org', organizationId);
    expect(list.stdout).toContain(key.keyId);
  });
});
