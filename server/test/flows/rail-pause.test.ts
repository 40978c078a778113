import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { createPayin, type PayinBody, readPayin, toProblem } from '../harness/payin-responses.ts';
import { readMetric } from '../harness/read-metric.ts';
import { runToEnd } from '../harness/run-server.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

// Each command is a separate process.

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
  await waitForPauses('BRE_B', 0);
  await waitForPauses('PSE', 0);
});

const REASON_AND_AUTHOR = ['--reason', 'el banco pagador avisó de una falla', '--by', 'Laura'];
const rails = (...args: readonly string[]) => stack.command('rails', ...args);

async function readPauses(process: { readonly opsUrl: string }, rail: string): Promise<number> {
  const text = await (await fetch(`${process.opsUrl}/metrics`)).text();
  return Number(new RegExp(`caudal_rail_pauses\\{rail="${rail}"\\} (\\d+)`).exec(text)?.[1]);
}

async function waitForPauses(rail: 'BRE_B' | 'PSE', pauses: number): Promise<void> {
  await within('the pause at every process', 3000, () =>
    until(`every process sees ${pauses} pauses of ${rail}`, async () => {
      const counts = await Promise.all(
        [...stack.apis, ...stack.workers].map((each) => readPauses(each, rail)),
      );
      return counts.every((count) => count === pauses);
    }),
  );
}

/** Makes all waiting work due immediately. */
async function makeDue(): Promise<void> {
  await stack.database.query(
    'update caudal.breb_keys set register_due_at = caudal.now(), leased_until = null, lease_token = null where register_due_at is not null',
  );
  await stack.database.query(
    "update caudal.payins set rail_due_at = caudal.now(), leased_until = null, lease_token = null where rail_task = 'open'",
  );
}

const toKey = (payin: PayinBody) => String(payin.sourceData.keyString);
const isRegistered = async (payin: PayinBody) => (await simulator.key(toKey(payin))) !== null;
const hasPage = async (api: ApiClient, payin: PayinBody) =>
  (await readPayin(api, payin.id)).sourceData.pseUrl !== null;

describe('a rail paused for all organizations', () => {
  it('rejects payins at every process within a second with Retry-After, and does not affect the other rail', async () => {
    await rails('pause', '--rail', 'PSE', ...REASON_AND_AUTHOR);
    await within('the rejection at every process', 2000, () => waitForPauses('PSE', 1));
    for (const api of apis) {
      const rejected = await api.post('/payins', psePayin());
      expect(toProblem(rejected)).toMatchObject({ status: 503, code: 'rail_paused' });
      expect(rejected.headers.get('retry-after')).toBe('60');
      await createPayin(api, brebPayin());
    }
    await rails('resume', '--rail', 'PSE');
    await waitForPauses('PSE', 0);
    for (const api of apis) await createPayin(api, psePayin());
  });

  it('rejects a replay with 503 too, and replays the same payin after the resumption', async () => {
    const body = brebPayin();
    const key = { 'idempotency-key': newReference() };
    const first = await createPayin(stack.api, body, key);
    await rails('pause', '--rail', 'BRE_B', ...REASON_AND_AUTHOR);
    await waitForPauses('BRE_B', 1);
    expect((await stack.api.post('/payins', body, key)).status).toBe(503);
    expect((await readPayin(stack.api, first.id)).id).toBe(first.id);
    await rails('resume', '--rail', 'BRE_B');
    await waitForPauses('BRE_B', 0);
    expect((await createPayin(stack.api, body, key)).id).toBe(first.id);
  });

  it('returns rail_not_enabled to an organization that does not have the rail', async () => {
    const { apiKey } = await stack.newOrganization('--rails', 'BRE_B');
    await rails('pause', '--rail', 'PSE', ...REASON_AND_AUTHOR);
    await waitForPauses('PSE', 1);
    expect(toProblem(await stack.api.as(apiKey).post('/payins', psePayin()))).toMatchObject({
      status: 400,
      code: 'rail_not_enabled',
    });
  });

  it('receives no waiting order, and all of them after the resumption', async () => {
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const key = await createPayin(stack.api, brebPayin());
    const page = await createPayin(stack.api, psePayin());
    await rails('pause', '--rail', 'BRE_B', ...REASON_AND_AUTHOR);
    await waitForPauses('BRE_B', 1);
    await waitUntilNoneInFlight();
    await simulator.clearFaults();
    await makeDue();
    // The workers serve the other rail meanwhile, so several rounds have passed.
    await until('the bank page of the other rail is known', () => hasPage(stack.api, page));
    await makeDue();
    expect(await isRegistered(key)).toBe(false);
    await rails('resume', '--rail', 'BRE_B');
    await until('the key is registered', () => isRegistered(key));
  });
});

/**
 * Waits until no order is between lease and record: whatever reaches the simulator later was leased after
 * this.
 */
async function waitUntilNoneInFlight(): Promise<void> {
  await until('no order is in flight', async () => {
    const rows = await stack.database.query(
      `select 1 from caudal.breb_keys where register_due_at is not null and leased_until is not null
         union all select 1 from caudal.payins where rail_task = 'open' and leased_until is not null`,
    );
    return rows.length === 0;
  });
}

describe('a rail paused for one organization', () => {
  it('accepts payins of the others', async () => {
    await rails('pause', '--rail', 'BRE_B', '--org', stack.organization.organizationId, ...REASON_AND_AUTHOR);
    await waitForPauses('BRE_B', 1);
    expect((await stack.api.post('/payins', brebPayin())).status).toBe(503);
    await createPayin(stack.api.as(other.apiKey), brebPayin());
    await createPayin(stack.api, psePayin());
  });

  it('delays its keys while those of the others are registered, and registers them afterwards', async () => {
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    const delayed = await createPayin(stack.api, brebPayin());
    const unaffected = await createPayin(stack.api.as(other.apiKey), brebPayin());
    await rails('pause', '--rail', 'BRE_B', '--org', stack.organization.organizationId, ...REASON_AND_AUTHOR);
    await waitForPauses('BRE_B', 1);
    await waitUntilNoneInFlight();
    await simulator.clearFaults();
    await makeDue();
    await until('the key of the other organization is registered', () => isRegistered(unaffected));
    expect(await isRegistered(delayed)).toBe(false);
    await rails('resume', '--rail', 'BRE_B', '--org', stack.organization.organizationId);
    await until('the delayed key is registered', () => isRegistered(delayed));
  });

  it('delays its bank pages while those of the others are opened, and opens them afterwards', async () => {
    await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const otherApi = stack.api.as(other.apiKey);
    const delayed = await createPayin(stack.api, psePayin());
    const unaffected = await createPayin(otherApi, psePayin());
    await rails('pause', '--rail', 'PSE', '--org', stack.organization.organizationId, ...REASON_AND_AUTHOR);
    await waitForPauses('PSE', 1);
    await waitUntilNoneInFlight();
    await simulator.clearFaults();
    await makeDue();
    await until('the page of the other organization is known', () => hasPage(otherApi, unaffected));
    expect(await hasPage(stack.api, delayed)).toBe(false);
    await rails('resume', '--rail', 'PSE', '--org', stack.organization.organizationId);
    await until('the delayed page is known', () => hasPage(stack.api, delayed));
  });
});

describe('the rails commands', () => {
  it('list what is paused, for whom, by whom and why; a second pause updates the reason', async () => {
    await rails('pause', '--rail', 'PSE', ...REASON_AND_AUTHOR);
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
    expect(await rails('resume', '--rail', 'PSE')).toContain('1 other pauses of this rail remain');
    expect(await rails('list')).toContain(other.organizationId);
  });

  it.each([
    [2, ['pause', '--rail', 'VISA', ...REASON_AND_AUTHOR]],
    [2, ['pause', '--rail', 'PSE', '--by', 'Laura']],
    // An empty variable in a script must not pause all organizations.
    [2, ['pause', '--rail', 'PSE', '--org', '', ...REASON_AND_AUTHOR]],
    [2, ['pause', '--rail', 'PSE', '--org', 'aurora', ...REASON_AND_AUTHOR]],
    [1, ['pause', '--rail', 'PSE', '--org', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', ...REASON_AND_AUTHOR]],
    [1, ['resume', '--rail', 'PSE']],
  ])('exit with %i and pause nothing: rails %j', async (exit, args) => {
    expect((await runToEnd(['rails', ...args], stack.settings)).code).toBe(exit);
    expect(await stack.database.query('select 1 from caudal.rail_pauses')).toEqual([]);
  });
});

it('every process exports the pauses it sees', async () => {
  await rails('pause', '--rail', 'BRE_B', ...REASON_AND_AUTHOR);
  await waitForPauses('BRE_B', 1);
  for (const each of [...stack.apis, ...stack.workers])
    expect(await readMetric(each, 'caudal_rail_pauses')).toBe(1);
});
