import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin, newReference } from '../harness/payin-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: CredentialDriver;
beforeAll(async () => {
  // The bucket refills within a second, so a limit of one per second keeps rejecting during a test.
  stack = await startStack({ settings: { CAUDAL_WRITES_PER_SECOND: '1', CAUDAL_READS_PER_SECOND: '100' } });
  driver = await openCredentialDriver(stack);
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
});

/** Creates payins one after the other until one is rejected. */
async function createUntilRejected(
  apiKey: string,
): Promise<{ rejected: ApiResponse; reference: string; created: number }> {
  for (let created = 0; created < 20; created += 1) {
    const reference = newReference();
    const answer = await stack.api.as(apiKey).post('/payins', brebPayin({ reference }));
    if (answer.status !== 201) return { rejected: answer, reference, created };
  }
  throw new Error('no request was rejected');
}

/** Repeats until 429: uses up what the bucket refills, one per second. */
async function repeatUntilRejected(send: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (let tries = 0; tries < 20; tries += 1) {
    const answer = await send();
    if (answer.status === 429) return answer;
  }
  throw new Error('no request was rejected');
}

describe('an organization beyond its rate limit', () => {
  it('gets RateLimit headers with every response, and 429 with Retry-After', async () => {
    const { apiKey } = await driver.newOrganization();
    const first = await stack.api.as(apiKey).post('/payins', brebPayin());
    expect(first.status).toBe(201);
    expect(first.headers.get('ratelimit-policy')).toBe('"writes";q=5;w=5');
    expect(first.headers.get('ratelimit')).toBe('"writes";r=4;t=1');
    const { rejected } = await createUntilRejected(apiKey);
    expect(rejected.status).toBe(429);
    expect(rejected.body['code']).toBe('rate_limited');
    expect(rejected.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(rejected.headers.get('retry-after')).toBe('1');
    expect(rejected.headers.get('ratelimit')).toBe('"writes";r=0;t=1');
    expect(rejected.body['instance']).toBe('/payins');
    expect(rejected.headers.get('x-request-id')).toBe(rejected.body['requestId']);
  });

  it('has no effect from a rejected request, and can send it again', async () => {
    const { apiKey, organizationId } = await driver.newOrganization();
    const { rejected, reference, created } = await createUntilRejected(apiKey);
    expect(rejected.status).toBe(429);
    const [row] = await stack.database.query<{ payins: number; refs: number }>(
      `select (select count(*)::int from caudal.payins where organization_id = $1) as payins,
         (select count(*)::int from caudal.resource_references where organization_id = $1) as refs`,
      [organizationId],
    );
    expect(row).toEqual({ payins: created, refs: created });
    const again = await until('the limit admits it', async () => {
      const answer = await stack.api.as(apiKey).post('/payins', brebPayin({ reference }));
      return answer.status !== 429 && answer;
    });
    expect(again.status).toBe(201);
  });

  it('can still read, and does not affect the limit of others', async () => {
    const { apiKey } = await driver.newOrganization();
    const other = await driver.newOrganization();
    await createUntilRejected(apiKey);
    const read = await stack.api.as(apiKey).get('/payins');
    expect(read.status).toBe(200);
    expect(read.headers.get('ratelimit-policy')).toBe('"reads";q=500;w=5');
    expect((await stack.api.as(other.apiKey).post('/payins', brebPayin())).status).toBe(201);
  });

  it('cannot bypass it with another key or a token, and token requests count as writes', async () => {
    const { apiKey, keyId, organizationId } = await driver.newOrganization();
    const { apiKey: second } = await driver.newKey(organizationId);
    await createUntilRejected(apiKey);
    const token = await repeatUntilRejected(() =>
      stack.api.with({ 'x-api-key': '' }).request('POST', '/oauth/token', {
        raw: `grant_type=client_credentials&client_id=${keyId}&client_secret=${apiKey}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    );
    expect(token.body['code']).toBe('rate_limited');
    // With its own bucket it would have five requests.
    let created = 0;
    await repeatUntilRejected(async () => {
      const answer = await stack.api.as(second).post('/payins', brebPayin());
      if (answer.status === 201) created += 1;
      return answer;
    });
    expect(created).toBeLessThan(5);
  });

  it('gets the problem in Spanish on request', async () => {
    const { apiKey } = await driver.newOrganization();
    await createUntilRejected(apiKey);
    const answer = await repeatUntilRejected(() =>
      stack.api.as(apiKey).post('/payins', brebPayin(), { 'accept-language': 'es-CO' }),
    );
    expect(answer.body['title']).toBe('Demasiadas solicitudes');
    expect(answer.headers.get('content-language')).toBe('es');
  });

  it('keeps its connection, also with an unread body', async () => {
    const { apiKey } = await driver.newOrganization();
    await createUntilRejected(apiKey);
    const large = brebPayin({ reference: 'x'.repeat(60_000) });
    for (let index = 0; index < 3; index += 1)
      await repeatUntilRejected(() => stack.api.as(apiKey).post('/payins', large));
    expect((await stack.api.as(apiKey).get('/payins')).status).toBe(200);
  });

  it('is counted in the metrics by reason and kind', async () => {
    const [process] = stack.apis;
    if (!process) throw new Error('no API process');
    const { apiKey } = await driver.newOrganization();
    await createUntilRejected(apiKey);
    expect(await readMetric(process, 'caudal_http_requests_rejected_total')).toBeGreaterThan(0);
    const text = await (await fetch(`${process.opsUrl}/metrics`)).text();
    expect(text).toMatch(/^caudal_http_requests_rejected_total\{reason="rate_limited",kind="write"\} \d+$/m);
  });
});

describe('limits of one organization', () => {
  const limits = (...args: string[]) =>
    runOperatorCommand(
      { ...stack.settings, DATABASE_URL: stack.database.ownerUrl },
      'org',
      'limits',
      ...args,
    );

  it('apply within a second, and can be reset to those of the deployment', async () => {
    const { apiKey, organizationId } = await driver.newOrganization();
    expect((await limits(organizationId)).stdout).toBe('Writes  default\nReads   default\n');
    await createUntilRejected(apiKey);
    expect((await limits(organizationId, '--writes', '300')).stdout).toBe(
      'Writes  300 per second per API process\nReads   default\n',
    );
    const readPolicy = async () =>
      (await stack.api.as(apiKey).post('/payins', brebPayin())).headers.get('ratelimit-policy');
    await until('the new limit applies', async () => (await readPolicy()) === '"writes";q=1500;w=5');
    expect(JSON.parse((await limits(organizationId, '--reads', '0', '--json')).stdout)).toEqual({
      organizationId,
      writesPerSecond: 300,
      readsPerSecond: 0,
    });
    await until(
      'reads are unlimited',
      async () => (await stack.api.as(apiKey).get('/payins')).headers.get('ratelimit-policy') === null,
    );
    await limits(organizationId, '--writes', 'default', '--reads', 'default');
    await until('the default limit applies again', async () => (await readPolicy()) === '"writes";q=5;w=5');
  });

  it('are rejected when invalid', async () => {
    expect(await limits('nobody')).toMatchObject({ code: 2 });
    expect(await limits('01990000-0000-7000-8000-000000000000')).toMatchObject({ code: 1 });
    const { organizationId } = await driver.newOrganization();
    for (const value of ['-1', '1000001', 'many', '1.5'])
      expect(await limits(organizationId, `--writes=${value}`)).toMatchObject({ code: 2 });
  });
});
