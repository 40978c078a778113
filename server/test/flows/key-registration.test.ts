import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startServer } from '../../../scripts/stack/processes.ts';
import { expectWithin, stopwatch, within } from '../../../scripts/testing/expect-within.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { brebPayin, CUSTOMER, without } from '../harness/payin-requests.ts';
import { BREB } from '../harness/rails-under-test.ts';
import { readMetric } from '../harness/read-metric.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let simulator: SimulatorControl;
let apis: ApiClient[];
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2 });
  simulator = new SimulatorControl(stack.simulatorUrl);
  apis = stack.apis.map((api) => stack.api.at(api.url));
});
afterAll(() => stack?.stop());
afterEach(() => simulator.clearFaults());

interface BrebPayin {
  readonly id: string;
  readonly status: string;
  readonly expiresAt: string;
  readonly errorCode: string | null;
  readonly sourceData: { readonly keyString: string };
}

interface Created {
  readonly payin: BrebPayin;
  readonly key: string;
  /** Wall-clock time of the response. */
  readonly answeredAt: number;
  readonly tookMs: number;
}

async function create(body: Record<string, unknown> = brebPayin(), api = 0): Promise<Created> {
  const elapsedMs = stopwatch();
  const answer = await apis[api]?.post<BrebPayin>('/payins', body);
  const answeredAt = Date.now();
  if (answer?.status !== 201) throw new Error(`not created: ${answer?.text}`);
  const { body: payin } = answer;
  return { payin, key: payin.sourceData.keyString, answeredAt, tookMs: elapsedMs() };
}

const waitForRegisteredKey = (key: string, limitMs = 10_000) =>
  within('the registration of a key', limitMs, () =>
    until('the key is registered at the rail', () => simulator.key(key)),
  );

/** Delay between the response and the registration. Both clocks are this machine's. */
async function registrationDelayMs({ key, answeredAt }: Created): Promise<number> {
  const { registeredAt } = await waitForRegisteredKey(key);
  return Date.parse(registeredAt ?? '') - answeredAt;
}

interface KeyRow {
  readonly register_due_at: Date | null;
  readonly registered_at: Date | null;
  readonly refusal: string | null;
  readonly attempts: number;
  readonly leased_until: Date | null;
  readonly lease_token: string | null;
}

async function readRow(key: string): Promise<KeyRow> {
  const [found] = await stack.database.query<KeyRow>(
    `select register_due_at, registered_at, refusal, attempts, leased_until, lease_token
     from caudal.breb_keys where key = $1`,
    [key],
  );
  if (!found) throw new Error('no such key in the database');
  return found;
}

/** The recorded state of a registered key. */
const waitUntilRecorded = (key: string) =>
  until('the registration is recorded', async () => {
    const found = await readRow(key);
    return found.registered_at !== null && found;
  });

/** Waits until no call from before a change of the payin is in flight, and the key was tried at least once. */
const waitUntilFree = (key: string) =>
  until('the first attempts are over', async () => {
    const { lease_token, attempts } = await readRow(key);
    return lease_token === null && attempts > 0;
  });

/** A key that cannot be registered now is tried again after an hour. */
const waitUntilPostponed = (key: string) =>
  until('the key is postponed', async () => {
    const [row] = await stack.database.query<{ postponed: boolean }>(
      `select lease_token is null and register_due_at > caudal.now() + interval '30 minutes' as postponed
       from caudal.breb_keys where key = $1`,
      [key],
    );
    return row?.postponed;
  });

const endLease = (key: string) =>
  stack.database.query(`update caudal.breb_keys set leased_until = clock_timestamp() where key = $1`, [key]);

const countRegisterCalls = async () => (await simulator.stats()).calls.BRE_B['register'] ?? 0;
const countRegisteredKeys = async () => (await simulator.stats()).keys.registered;

describe('the key of a payin', () => {
  it.each([0, 1])(
    'is registered within a second after the response of API %i, with amount, expiry and payer',
    async (api) => {
      const created = await create(brebPayin({ amountInCents: 4_980_050 }), api);
      expectWithin('the registration', await registrationDelayMs(created), 1000);
      expect(await simulator.key(created.key)).toMatchObject({
        status: 'REGISTERED',
        internalId: created.payin.id,
        amount: '49800.50',
        expiresAt: created.payin.expiresAt,
        payer: { documentType: 'CC', documentNumber: CUSTOMER.idNumber, name: CUSTOMER.name },
      });
      const recordedRow = await waitUntilRecorded(created.key);
      expect(recordedRow).toMatchObject({
        register_due_at: null,
        refusal: null,
        attempts: 1,
        lease_token: null,
      });
    },
  );

  it('is registered without a payer when the request has none', async () => {
    const { key } = await create(without(brebPayin(), 'inlineCustomer'));
    expect(await waitForRegisteredKey(key)).toMatchObject({ payer: null });
  });

  it('is registered within a second for each of 300 concurrent payins, in far fewer calls', async () => {
    const [keysBefore, callsBefore] = [await countRegisteredKeys(), await countRegisterCalls()];
    const elapsedMs = stopwatch();
    const burst = await Promise.all(
      Array.from({ length: 300 }, (_, index) => create(brebPayin(), index % 2)),
    );
    const delays = await Promise.all(burst.map(registrationDelayMs));
    expectWithin('the registration of 300 keys', Math.max(...delays), 1000);
    expect((await countRegisteredKeys()) - keysBefore).toBe(300);
    // Each of the two API processes calls at most every 50 ms; on a slow machine the payins take seconds to arrive.
    const calls = (await countRegisterCalls()) - callsBefore;
    expect(calls).toBeLessThan(Math.max(100, 2 * (elapsedMs() / 50 + 1)));
    for (const { key, payin } of burst)
      expect(await simulator.key(key)).toMatchObject({ internalId: payin.id, expiresAt: payin.expiresAt });
  });

  it("is registered once when the rail's answer is lost", async () => {
    const [keysBefore, callsBefore] = [await countRegisteredKeys(), await countRegisterCalls()];
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'lost-answer', times: 1 });
    const { key, payin } = await create();
    expect(await waitUntilRecorded(key)).toMatchObject({ attempts: 2, refusal: null, register_due_at: null });
    expect(await simulator.key(key)).toMatchObject({ status: 'REGISTERED', internalId: payin.id });
    expect((await countRegisteredKeys()) - keysBefore).toBe(1);
    expect((await countRegisterCalls()) - callsBefore).toBe(2);
  });
});

describe('a rail outage', () => {
  it('does not stop creations: their keys wait, are counted, and are registered afterwards', async () => {
    const watcher = stack.workers[0];
    if (!watcher) throw new Error('no worker');
    const readWaiting = () => readMetric(watcher, 'caudal_breb_keys_waiting');
    const readOldestSeconds = () => readMetric(watcher, 'caudal_breb_keys_waiting_oldest_seconds');
    await until('nothing waits', async () => (await readWaiting()) === 0);
    await simulator.addFault({ rail: 'BRE_B', operation: '*', fault: 'down' });
    const elapsedMs = stopwatch();
    const burst = await Promise.all(Array.from({ length: 20 }, (_, index) => create(brebPayin(), index % 2)));
    expectWithin('a creation during the outage', Math.max(...burst.map(({ tookMs }) => tookMs)), 2000);
    for (const { payin } of burst) expect(payin.status).toBe('PROCESSING');

    await until('all 20 are counted', async () => (await readWaiting()) === 20);
    const oldest = await readOldestSeconds();
    expect(oldest).toBeGreaterThan(0);
    expect(oldest).toBeLessThan(60 + elapsedMs() / 1000);
    for (const { key } of burst) expect(await simulator.key(key)).toBeNull();
    const keys = burst.map(({ key }) => key);
    const [wronglyEnded] = await stack.database.query<{ count: number }>(
      `select count(*)::int from caudal.breb_keys where key = any($1) and (refusal is not null or register_due_at is null)`,
      [keys],
    );
    expect(wronglyEnded?.count, 'an outage is never treated as a rejection').toBe(0);

    await simulator.clearFaults();
    await Promise.all(keys.map((key) => waitForRegisteredKey(key)));
    await until('nothing waits any more', async () => (await readWaiting()) === 0);
    expect(await readOldestSeconds()).toBe(0);
  });
});

describe('a key that the rail rejects', () => {
  /** Closes the key at the rail before its registration, so that every registration is rejected. */
  async function createRejectedKey(): Promise<Created> {
    const connector = BREB.connect(stack.simulatorUrl);
    await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    const created = await create();
    const [closed] = await connector.close([created.key]);
    expect(closed?.kind).toBe('yes');
    await connector.disconnect();
    await simulator.clearFaults();
    await until('the rejection is recorded', async () => (await readRow(created.key)).refusal === '0004');
    return created;
  }

  it('is not retried and does not count as waiting', async () => {
    const { key } = await createRejectedKey();
    expect(await readRow(key)).toMatchObject({
      register_due_at: null,
      registered_at: null,
      lease_token: null,
    });
    const [worker] = stack.workers;
    if (!worker) throw new Error('no worker');
    await until('nothing waits', async () => (await readMetric(worker, 'caudal_breb_keys_waiting')) === 0);
  });

  it('declines its payin with an errorCode', async () => {
    const { payin } = await createRejectedKey();
    const declined = await within('the decline', 2000, () =>
      until('the payin is declined', async () => {
        const { body } = await stack.api.get<BrebPayin>(`/payins/${payin.id}`);
        return body.status === 'DECLINED' && body;
      }),
    );
    expect(declined.errorCode).toBe('KEY_NOT_FOUND');
  });
});

describe('a payin that expired during a rail outage', () => {
  it('is not registered and does not block others', async () => {
    const down = await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    const expired = await create();
    const live = await create();
    await stack.database.query(
      "update caudal.payins set expires_at = caudal.now() - interval '1 second' where id = $1",
      [expired.payin.id],
    );
    await Promise.all([waitUntilFree(expired.key), waitUntilFree(live.key)]);
    await simulator.removeFault(down);
    await waitForRegisteredKey(live.key);
    await waitUntilPostponed(expired.key);
    expect(await simulator.key(expired.key)).toBeNull();
  });
});

describe('a payin whose customer fails to decrypt', () => {
  it('does not prevent other registrations', async () => {
    const down = await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'down' });
    const broken = await create();
    const intact = await create();
    await stack.database.query(
      'update caudal.payins set customer = set_byte(customer, 20, get_byte(customer, 20) # 1) where id = $1',
      [broken.payin.id],
    );
    await Promise.all([waitUntilFree(broken.key), waitUntilFree(intact.key)]);
    await simulator.removeFault(down);
    await waitForRegisteredKey(intact.key);
    await waitUntilPostponed(broken.key);
    expect(await readRow(broken.key)).toMatchObject({ registered_at: null, refusal: null });
  });
});

describe('a process that dies or stalls during a registration', () => {
  it('is replaced by a worker when it is killed right after the response', async () => {
    const hang = await simulator.addFault({ rail: 'BRE_B', operation: 'register', fault: 'hang', times: 1 });
    const { key, payin } = await create(brebPayin(), 1);
    await until('the registration hangs', async () => (await simulator.timesApplied(hang)) === 1);
    stack.apis[1]?.kill('SIGKILL');
    await stack.apis[1]?.exited;
    expect(await simulator.key(key)).toBeNull();
    expect(await readRow(key)).toMatchObject({ registered_at: null, attempts: 0 });

    await endLease(key);
    expect(await waitForRegisteredKey(key, 3000)).toMatchObject({
      internalId: payin.id,
      expiresAt: payin.expiresAt,
      payer: { name: CUSTOMER.name },
    });
    expect(await waitUntilRecorded(key)).toMatchObject({ attempts: 1, lease_token: null });
  });

  it('changes nothing when its late result arrives after another process took the key over', async () => {
    // The process that leases the key loses it before the answer, which may arrive too soon to do it from here: first the API, whose
    // lease ends, then a worker, whose lease another process takes over.
    await stack.database.query(`
      create function public.take_over() returns trigger language plpgsql as
        $$ begin
          new.lease_token = gen_random_uuid();
          new.leased_until = clock_timestamp() + case when tg_op = 'INSERT' then interval '0' else interval '1 hour' end;
          return new;
        end $$;
      create trigger take_over before insert on caudal.breb_keys for each row execute function public.take_over();
      create trigger take_over_again before update on caudal.breb_keys for each row
        when (new.lease_token is not null) execute function public.take_over()`);
    const { key } = await create();
    await until('a worker is registering', async () => {
      const [row] = await stack.database.query<{ taken: boolean }>(
        "select leased_until > clock_timestamp() + interval '30 minutes' as taken from caudal.breb_keys where key = $1",
        [key],
      );
      return row?.taken;
    });
    const takenOver = await readRow(key);
    expect(takenOver).toMatchObject({ registered_at: null });
    // A stopping worker finishes its work: the late result has been processed afterwards.
    expect(await Promise.all(stack.workers.map((worker) => worker.stop()))).toEqual([0, 0]);
    const registered = await waitForRegisteredKey(key, 1000);
    expect(await readRow(key)).toEqual(takenOver);

    await stack.database.query('drop function public.take_over cascade');
    await endLease(key);
    const next = await startServer('worker', stack.settings);
    try {
      const attempts = takenOver.attempts + 1;
      expect(await waitUntilRecorded(key)).toMatchObject({ attempts, refusal: null });
      expect(await simulator.key(key), 'the rail received it twice and has it once').toEqual(registered);
    } finally {
      await next.stop();
    }
  });
});
