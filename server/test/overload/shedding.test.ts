import { connect } from 'node:net';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { ApiResponse } from '../harness/api-client.ts';
import { linkRequest } from '../harness/checkout-driver.ts';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const SLOTS = 4;

/** Blocks creations in the database, and nothing else, while the table has a row. */
const HOLD = `
  create table public.hold (held boolean);
  create function public.wait() returns trigger language plpgsql security definer as $$
  begin
    while exists (select from public.hold) loop perform pg_sleep(0.01); end loop;
    return null;
  end $$;
  create trigger wait before insert on caudal.payins for each statement execute function public.wait()`;

let stack: Stack;
let simulator: SimulatorControl;
beforeAll(async () => {
  stack = await startStack({
    settings: {
      CAUDAL_MAX_CONCURRENT_REQUESTS: String(SLOTS),
      // All admitted requests run at the same time, and none times out while blocked.
      CAUDAL_BATCH_LANES: '8',
      CAUDAL_DATABASE_DEADLINE_MS: '60000',
    },
  });
  simulator = new SimulatorControl(stack.simulatorUrl);
  await stack.database.query(HOLD);
  // Caches the credential: an uncached one passes the gate later.
  await stack.api.get('/payins');
});
afterEach(async () => {
  await releaseCreations();
  await simulator.clearFaults();
  await until('no request is in flight', async () => (await readInFlight()) === 0);
});
afterAll(async () => {
  await stack?.stop();
});

const readInFlight = async () =>
  readMetric(stack.apis[0] ?? { opsUrl: '' }, 'caudal_http_requests_in_flight');

const holdCreations = () => stack.database.query('insert into public.hold values (true)');
const releaseCreations = () => stack.database.query('delete from public.hold');

interface Sent {
  readonly reference: string;
  readonly answer: Promise<ApiResponse>;
}

function create(api = stack.api): Sent {
  const reference = newReference();
  return { reference, answer: api.post('/payins', brebPayin({ reference })) };
}

async function fillSlots(): Promise<Sent[]> {
  await until('no request is in flight', async () => (await readInFlight()) === 0);
  const sent = Array.from({ length: SLOTS }, () => create());
  await until('all slots are taken', async () => (await readInFlight()) === SLOTS);
  return sent;
}

const readStatuses = async (sent: readonly Sent[]) =>
  Promise.all(sent.map(async ({ answer }) => (await answer).status));

describe('a process at its concurrency limit', () => {
  it('rejects immediately with 503 and Retry-After without effect, and completes all admitted requests', async () => {
    await holdCreations();
    const admitted = await fillSlots();
    const rejected = Array.from({ length: 20 }, () => create());
    for (const { answer } of rejected) {
      const { status, body, headers } = await answer;
      expect([status, body['code']]).toEqual([503, 'overloaded']);
      expect(['1', '2', '3']).toContain(headers.get('retry-after'));
    }
    await releaseCreations();
    expect(await readStatuses(admitted)).toEqual([201, 201, 201, 201]);
    const countStored = async (sent: readonly Sent[]) =>
      (
        await stack.database.query<{ count: number }>(
          `select count(*)::int as count from caudal.resource_references where reference = any($1)`,
          [sent.map(({ reference }) => reference)],
        )
      )[0]?.count;
    expect(await countStored(rejected)).toBe(0);
    expect(await countStored(admitted)).toBe(SLOTS);
    expect((await create().answer).status).toBe(201);
  });

  it('does not reject another organization, reads, payers or rail notifications', async () => {
    const link = await stack.api.post('/payment-links', linkRequest());
    const paid = await stack.api.post('/payins', brebPayin());
    const { keyString: key } = paid.body['sourceData'] as { keyString: string };
    await until('the key is registered', async () => (await simulator.key(key))?.status === 'REGISTERED');
    const other = await stack.newOrganization();
    const otherApi = stack.api.as(other.apiKey);
    await otherApi.get('/payins');

    await holdCreations();
    const admitted = await fillSlots();
    const quiet = create(otherApi);
    await until('the other request is admitted', async () => (await readInFlight()) === SLOTS + 1);
    expect((await create().answer).status).toBe(503);
    expect((await stack.api.get('/payins')).status).toBe(200);
    expect((await fetch(String(link.body['paymentLinkUrl']))).status).toBe(200);
    await simulator.pay({ key });
    await until('the notification is stored', async () => {
      const [row] = await stack.database.query<{ count: number }>(
        `select count(*)::int as count from caudal.rail_notices`,
      );
      return (row?.count ?? 0) > 0;
    });
    await releaseCreations();
    expect(await readStatuses([...admitted, quiet])).toEqual([201, 201, 201, 201, 201]);
  });

  it('stays full while it works for clients that disconnected', async () => {
    await holdCreations();
    const body = () => JSON.stringify(brebPayin());
    const { port } = new URL(stack.apis[0]?.url ?? '');
    const onDisconnect = Array.from({ length: SLOTS }, () => {
      const text = body();
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
      socket.write(
        `POST /payins HTTP/1.1\r\nhost: x\r\nx-api-key: ${stack.organization.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
      return socket;
    });
    await until('all slots are taken', async () => (await readInFlight()) === SLOTS);
    const before = await readMetric(
      stack.apis[0] ?? { opsUrl: '' },
      'caudal_http_requests_rejected_total',
    ).catch(() => 0);
    for (const socket of onDisconnect) socket.destroy();
    for (let index = 0; index < 5; index += 1) expect((await create().answer).status).toBe(503);
    expect(await readMetric(stack.apis[0] ?? { opsUrl: '' }, 'caudal_http_requests_rejected_total')).toBe(
      before + 5,
    );
  });

  it('frees the slot of a client that disconnects before its request is complete', async () => {
    const { port } = new URL(stack.apis[0]?.url ?? '');
    const sockets = Array.from({ length: SLOTS }, () => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
      socket.write(
        `POST /payins HTTP/1.1\r\nhost: x\r\nx-api-key: ${stack.organization.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{`,
      );
      return socket;
    });
    await until('all slots are taken', async () => (await readInFlight()) === SLOTS);
    for (const socket of sockets) socket.destroy();
    await until('the slots are free', async () => (await readInFlight()) === 0);
    expect((await create().answer).status).toBe(201);
  });

  it('frees the slot of a client that disconnects during its credential lookup', async () => {
    const otherOrganization = await stack.newOrganization();
    const { port } = new URL(stack.apis[0]?.url ?? '');
    const holder = new Client({ connectionString: stack.database.url });
    await holder.connect();
    await holder.query('begin; lock table caudal.api_keys in access exclusive mode');
    const body = JSON.stringify(brebPayin());
    const sockets = Array.from({ length: SLOTS }, () => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
      socket.write(
        `POST /payins HTTP/1.1\r\nhost: x\r\nx-api-key: ${otherOrganization.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      return socket;
    });
    await until('the lookups are waiting', async () => {
      const [row] = await stack.database.query<{ count: number }>(
        "select count(*)::int as count from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%caudal.api_keys%'",
      );
      return (row?.count ?? 0) > 0;
    });
    for (const socket of sockets) socket.destroy();
    // The process handles the disconnects before these later requests.
    for (let index = 0; index < 3; index += 1) expect(await readInFlight()).toBe(0);
    await holder.query('rollback');
    await holder.end();
    expect((await create(stack.api.as(otherOrganization.apiKey)).answer).status).toBe(201);
    await until('the slots are free', async () => (await readInFlight()) === 0);
  });

  it('is not filled by requests that wait for a bank', async () => {
    const fault = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'hang' });
    const waiting: Promise<ApiResponse>[] = [];
    for (let index = 1; index <= SLOTS + 2; index += 1) {
      waiting.push(stack.api.post('/payins', psePayin()));
      await until('the bank is called', async () => (await simulator.timesApplied(fault)) >= index);
      expect(await readInFlight()).toBe(0);
    }
    expect((await create().answer).status).toBe(201);
    // Ends the hanging calls.
    await simulator.clearFaults();
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 201));
  });
});
