import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../harness/api-client.ts';
import { type CredentialDriver, openCredentialDriver } from '../harness/credential-driver.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin, newReference } from '../harness/payin-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: CredentialDriver;
beforeAll(async () => {
  // A second of it comes back in a second, so what is to stay refused for the length of a test is one a second.
  stack = await startStack({ settings: { CAUDAL_WRITES_PER_SECOND: '1', CAUDAL_READS_PER_SECOND: '100' } });
  driver = await openCredentialDriver(stack);
});
afterAll(async () => {
  await driver?.close();
  await stack?.stop();
});

/** Creations one after the other, until one is refused. */
async function untilRefused(
  apiKey: string,
): Promise<{ refused: Answer; reference: string; created: number }> {
  for (let created = 0; created < 20; created += 1) {
    const reference = newReference();
    const answer = await stack.api.as(apiKey).post('/payins', brebPayin({ reference }));
    if (answer.status !== 201) return { refused: answer, reference, created };
  }
  throw new Error('nothing was refused');
}

/** What comes back to the bucket meanwhile, one a second, is used up first. */
async function refusedOf(send: () => Promise<Answer>): Promise<Answer> {
  for (let tries = 0; tries < 20; tries += 1) {
    const answer = await send();
    if (answer.status === 429) return answer;
  }
  throw new Error('nothing was refused');
}

describe('an organization beyond its limit', () => {
  it('is told of its limit by every answer, and refused with 429 and when to come again', async () => {
    const { apiKey } = await driver.newOrganization();
    const first = await stack.api.as(apiKey).post('/payins', brebPayin());
    expect(first.status).toBe(201);
    expect(first.headers.get('ratelimit-policy')).toBe('"writes";q=5;w=5');
    expect(first.headers.get('ratelimit')).toBe('"writes";r=4;t=1');
    const { refused } = await untilRefused(apiKey);
    expect(refused.status).toBe(429);
    expect(refused.body['code']).toBe('rate_limited');
    expect(refused.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit')).toBe('"writes";r=0;t=1');
    expect(refused.body['instance']).toBe('/payins');
    expect(refused.headers.get('x-request-id')).toBe(refused.body['requestId']);
  });

  it('has done nothing by what was refused, and may send the same again', async () => {
    const { apiKey, organizationId } = await driver.newOrganization();
    const { refused, reference, created } = await untilRefused(apiKey);
    expect(refused.status).toBe(429);
    const [row] = await stack.database.query<{ payins: number; refs: number }>(
      `select (select count(*)::int from caudal.payins where organization_id = $1) as payins,
         (select count(*)::int from caudal.resource_references where organization_id = $1) as refs`,
      [organizationId],
    );
    expect(row).toEqual({ payins: created, refs: created });
    const again = await until('the limit lets it through', async () => {
      const answer = await stack.api.as(apiKey).post('/payins', brebPayin({ reference }));
      return answer.status !== 429 && answer;
    });
    expect(again.status).toBe(201);
  });

  it('still reads, and does not touch the limit of others', async () => {
    const { apiKey } = await driver.newOrganization();
    const other = await driver.newOrganization();
    await untilRefused(apiKey);
    const read = await stack.api.as(apiKey).get('/payins');
    expect(read.status).toBe(200);
    expect(read.headers.get('ratelimit-policy')).toBe('"reads";q=500;w=5');
    expect((await stack.api.as(other.apiKey).post('/payins', brebPayin())).status).toBe(201);
  });

  it('cannot get round it by another key, nor by a token, and tokens count as writes', async () => {
    const { apiKey, keyId, organizationId } = await driver.newOrganization();
    const { apiKey: second } = await driver.newKey(organizationId);
    await untilRefused(apiKey);
    const token = await refusedOf(() =>
      stack.api.with({ 'x-api-key': '' }).request('POST', '/oauth/token', {
        raw: `grant_type=client_credentials&client_id=${keyId}&client_secret=${apiKey}`,
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }),
    );
    expect(token.body['code']).toBe('rate_limited');
    // Of its own it would have five at once.
    let created = 0;
    await refusedOf(async () => {
      const answer = await stack.api.as(second).post('/payins', brebPayin());
      if (answer.status === 201) created += 1;
      return answer;
    });
    expect(created).toBeLessThan(5);
  });

  it('is answered in Spanish when it asks for it', async () => {
    const { apiKey } = await driver.newOrganization();
    await untilRefused(apiKey);
    const answer = await refusedOf(() =>
      stack.api.as(apiKey).post('/payins', brebPayin(), { 'accept-language': 'es-CO' }),
    );
    expect(answer.body['title']).toBe('Demasiadas solicitudes');
    expect(answer.headers.get('content-language')).toBe('es');
  });

  it('keeps its connection, also with a body that nobody reads', async () => {
    const { apiKey } = await driver.newOrganization();
    await untilRefused(apiKey);
    const large = brebPayin({ reference: 'x'.repeat(60_000) });
    for (let index = 0; index < 3; index += 1)
      await refusedOf(() => stack.api.as(apiKey).post('/payins', large));
    expect((await stack.api.as(apiKey).get('/payins')).status).toBe(200);
  });

  it('shows in the metrics, by why and what', async () => {
    const [process] = stack.apis;
    if (!process) throw new Error('no process');
    const { apiKey } = await driver.newOrganization();
    await untilRefused(apiKey);
    expect(await readMetric(process, 'caudal_http_requests_rejected_total')).toBeGreaterThan(0);
    const text = await (await fetch(`${process.opsUrl}/metrics`)).text();
    expect(text).toMatch(/^caudal_http_requests_rejected_total\{reason="rate_limited",kind="write"\} \d+$/m);
  });
});

describe('limits of its own', () => {
  const limits = (...args: string[]) =>
    runOperatorCommand(
      { ...stack.settings, DATABASE_URL: stack.database.ownerUrl },
      'org',
      'limits',
      ...args,
    );

  it('hold within a second, and go back to those of the deployment', async () => {
    const { apiKey, organizationId } = await driver.newOrganization();
    expect((await limits(organizationId)).stdout).toBe(
      "Writes  the deployment's\nReads   the deployment's\n",
    );
    await untilRefused(apiKey);
    expect((await limits(organizationId, '--writes', '300')).stdout).toBe(
      "Writes  300 a second in each process\nReads   the deployment's\n",
    );
    const policyOf = async () =>
      (await stack.api.as(apiKey).post('/payins', brebPayin())).headers.get('ratelimit-policy');
    await until('the new limit holds', async () => (await policyOf()) === '"writes";q=1500;w=5');
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
    await until('the old one holds again', async () => (await policyOf()) === '"writes";q=5;w=5');
  });

  it('are refused where they make no sense', async () => {
    expect(await limits('nobody')).toMatchObject({ code: 2 });
    expect(await limits('01990000-0000-7000-8000-000000000000')).toMatchObject({ code: 1 });
    const { organizationId } = await driver.newOrganization();
    for (const value of ['-1', '1000001', 'many', '1.5'])
      expect(await limits(organizationId, `--writes=${value}`)).toMatchObject({ code: 2 });
  });
});
