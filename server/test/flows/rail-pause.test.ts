import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { ApiClient } from '../harness/api-client.ts';
import { createPayin, type PayinBody, problemOf, readPayin } from '../harness/payin-answers.ts';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { runToEnd } from '../harness/run-server.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

// Each command is a process of its own.
vi.setConfig({ testTimeout: 90_000 });

let stack: Stack;
let simulator: SimulatorControl;
let apis: ApiClient[];
let other: { readonly organizationId: string; readonly apiKey: string };
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2 });
  simulator = new SimulatorControl(stack.simulatorUrl);
  apis = stack.apis.map((api) => stack.api.at(api.url));
  other = await stack.newOrganization();
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await simulator.clearFaults();
  await stack.database.query('delete from caudal.rail_pauses');
  await everyProcessKnows('BRE_B', 0);
  await everyProcessKnows('PSE', 0);
});

const BY = ['--reason', 'el banco pagador avisó de una falla', '--by', 'Laura'];
const rails = (...args: readonly string[]) => stack.command('rails', ...args);

async function pausesKnown(process: { readonly opsUrl: string }, rail: string): Promise<number> {
  const text = await (await fetch(`${process.opsUrl}/metrics`)).text();
  return Number(new RegExp(`caudal_rail_pauses\\{rail="${rail}"\\} (\\d+)`).exec(text)?.[1]);
}

async function everyProcessKnows(rail: 'BRE_B' | 'PSE', pauses: number): Promise<void> {
  await until(
    `${pauses} pauses of ${rail} are known everywhere`,
    async () => {
      const known = await Promise.all(
        [...stack.apis, ...stack.workers].map((each) => pausesKnown(each, rail)),
      );
      return known.every((count) => count === pauses);
    },
    3000,
  );
}

/** What waits is made due at once, instead of when its next attempt would be. */
async function makeDue(): Promise<void> {
  await stack.database.query(
    'update caudal.breb_keys set register_due_at = caudal.now(), leased_until = null, lease_token = null where register_due_at is not null',
  );
  await stack.database.query(
    "update caudal.payins set rail_due_at = caudal.now(), leased_until = null, lease_token = null where rail_task = 'open'",
  );
}

const keyOf = (payin: PayinBody) => String(payin.sourceData.keyString);
const isRegistered = async (payin: PayinBody) => (await simulator.key(keyOf(payin))) !== null;
const hasPage = async (api: ApiClient, payin: PayinBody) =>
  (await readPayin(api, payin.id)).sourceData.pseUrl !== null;

describe('a rail paused for all', () => {
  it('takes no payins at any process within a second, says when to ask again, and leaves the other rail alone', async () => {
    await rails('pause', '--rail', 'PSE', ...BY);
    const since = performance.now();
    await everyProcessKnows('PSE', 1);
    expect(performance.now() - since).toBeLessThan(2000);
    for (const api of apis) {
      const refused = await api.post('/payins', psePayin());
      expect(problemOf(refused)).toMatchObject({ status: 503, code: 'rail_paused' });
      expect(refused.headers.get('retry-after')).toBe('60');
      await createPayin(api, brebPayin());
    }
    await rails('resume', '--rail', 'PSE');
    await everyProcessKnows('PSE', 0);
    for (const api of apis) await createPayin(api, psePayin());
  });

  it('answers a repeat 503 too, and with the same payin as ever once it is resumed', async () => {
    const body = brebPayin();
    const key = { 'idempotency-key': newReference() };
    const first = await createPayin(stack.api, body, key);
    await rails('pause', '--rail', 'BRE_B', ...BY);
    await everyProcessKnows('BRE_B', 1);
    expect((await stack.api.post('/payins', body, key)).status).toBe(503);
    expect((await readPayin(stack.api, first.id)).id).toBe(first.id);
    await rails('resume', '--rail', 'BRE_B');
    await everyProcessKnows('BRE_B', 0);
    expect((await createPayin(stack.api, body, key)).id).toBe(first.id);
  });

  it('says of a rail an organization does not have that it does not have it', async () => {
    const { apiKey } = await stack.newOrganization('--rails', 'BRE_B');
    await rails('pause', '--rail', 'PSE', ...BY);
    await everyProcessKnows('PSE', 1);
    expect(problemOf(await stack.api.as(apiKey).post('/payins', psePayin()))).toMatchObject({
      status: 400,
      code: 'rail_not_enabled',
    });
  });

  it('is sent nothing that was waiting, and all of it after it is resumed', async () => {
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const key = await createPayin(stack.api, brebPayin());
    const page = await createPayin(stack.api, psePayin());
    await rails('pause', '--rail', 'BRE_B', ...BY);
    await everyProcessKnows('BRE_B', 1);
    await noneUnderWay();
    await simulator.clearFaults();
    await makeDue();
    // The rounds of the other rail go on: many of this one have passed when they have done their work.
    await until('the bank page of the other rail', () => hasPage(stack.api, page), 15_000);
    await makeDue();
    expect(await isRegistered(key)).toBe(false);
    await rails('resume', '--rail', 'BRE_B');
    await until('the key is registered', () => isRegistered(key), 15_000);
  });
});

/** No order is between claim and record, so whatever reaches the simulator from now on was claimed after this. */
async function noneUnderWay(): Promise<void> {
  await until(
    'no order under way',
    async () => {
      const rows = await stack.database.query(
        `select 1 from caudal.breb_keys where register_due_at is not null and leased_until is not null
         union all select 1 from caudal.payins where rail_task = 'open' and leased_until is not null`,
      );
      return rows.length === 0;
    },
    30_000,
  );
}

describe('a rail paused for one organization', () => {
  it('is open to the others', async () => {
    await rails('pause', '--rail', 'BRE_B', '--org', stack.organization.organizationId, ...BY);
    await everyProcessKnows('BRE_B', 1);
    expect((await stack.api.post('/payins', brebPayin())).status).toBe(503);
    await createPayin(stack.api.as(other.apiKey), brebPayin());
    await createPayin(stack.api, psePayin());
  });

  it('lets its keys wait while those of the others are registered, and registers them after', async () => {
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    const waits = await createPayin(stack.api, brebPayin());
    const goes = await createPayin(stack.api.as(other.apiKey), brebPayin());
    await rails('pause', '--rail', 'BRE_B', '--org', stack.organization.organizationId, ...BY);
    await everyProcessKnows('BRE_B', 1);
    await noneUnderWay();
    await simulator.clearFaults();
    await makeDue();
    await until('the key of the other organization', () => isRegistered(goes), 15_000);
    expect(await isRegistered(waits)).toBe(false);
    await rails('resume', '--rail', 'BRE_B', '--org', stack.organization.organizationId);
    await until('the key that waited', () => isRegistered(waits), 15_000);
  });

  it('lets its bank pages wait while those of the others are opened, and opens them after', async () => {
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const theirs = stack.api.as(other.apiKey);
    const waits = await createPayin(stack.api, psePayin());
    const goes = await createPayin(theirs, psePayin());
    await rails('pause', '--rail', 'PSE', '--org', stack.organization.organizationId, ...BY);
    await everyProcessKnows('PSE', 1);
    await noneUnderWay();
    await simulator.clearFaults();
    await makeDue();
    await until('the page of the other organization', () => hasPage(theirs, goes), 15_000);
    expect(await hasPage(stack.api, waits)).toBe(false);
    await rails('resume', '--rail', 'PSE', '--org', stack.organization.organizationId);
    await until('the page that waited', () => hasPage(stack.api, waits), 15_000);
  });
});

describe('the commands of the brake', () => {
  it('list what is paused, for whom, by whom and why; a second pause renews the reason', async () => {
    await rails('pause', '--rail', 'PSE', ...BY);
    await rails(
      'pause',
      '--rail',
      'PSE',
      '--org',
      other.organizationId,
      '--reason',
      'fraude',
      '--by',
      'Iván',
    );
    await rails('pause', '--rail', 'PSE', '--reason', 'sigue la falla', '--by', 'Laura');
    expect(JSON.parse(await rails('list', '--json'))).toMatchObject([
      { rail: 'PSE', organizationId: null, reason: 'sigue la falla', pausedBy: 'Laura' },
      { rail: 'PSE', organizationId: other.organizationId, reason: 'fraude', pausedBy: 'Iván' },
    ]);
    expect(await rails('resume', '--rail', 'PSE')).toContain('1 other pauses of this rail still stand');
    expect(await rails('list')).toContain(other.organizationId);
  });

  it.each([
    [2, ['pause', '--rail', 'VISA', ...BY]],
    [2, ['pause', '--rail', 'PSE', '--by', 'Laura']],
    // An empty variable in a script must not pause everybody.
    [2, ['pause', '--rail', 'PSE', '--org', '', ...BY]],
    [2, ['pause', '--rail', 'PSE', '--org', 'aurora', ...BY]],
    [1, ['pause', '--rail', 'PSE', '--org', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', ...BY]],
    [1, ['resume', '--rail', 'PSE']],
  ])('exit with %i and pause nothing: rails %j', async (exit, args) => {
    expect((await runToEnd(['rails', ...args], stack.settings)).code).toBe(exit);
    expect(await stack.database.query('select 1 from caudal.rail_pauses')).toEqual([]);
  });
});

it('every process tells of the pauses it knows', async () => {
  await rails('pause', '--rail', 'BRE_B', ...BY);
  await everyProcessKnows('BRE_B', 1);
  for (const each of [...stack.apis, ...stack.workers])
    expect(await readMetric(each, 'caudal_rail_pauses')).toBe(1);
});
