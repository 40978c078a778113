import { connect } from 'node:net';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../harness/api-client.ts';
import { openLink } from '../harness/checkout-driver.ts';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { readMetric } from '../harness/read-metric.ts';
import { SimulatorControl } from '../harness/simulator-control.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const PLACES = 4;

/** A database that stands still for creations, and for nothing else, as long as there is a row. */
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
      CAUDAL_MAX_CONCURRENT_REQUESTS: String(PLACES),
      // All that are let in are under way at once, and none is given up while they are held.
      CAUDAL_BATCH_LANES: '8',
      CAUDAL_DATABASE_DEADLINE_MS: '20000',
    },
  });
  simulator = new SimulatorControl(stack.simulatorUrl);
  await stack.database.query(HOLD);
  // Known to the process: a credential that it must look up passes the gate later.
  await stack.api.get('/payins');
});
afterEach(async () => {
  await letGo();
  await simulator.clearFaults();
  await until('nobody is inside', async () => (await inside()) === 0);
});
afterAll(async () => {
  await stack?.stop();
});

const inside = async () => readMetric(stack.apis[0] ?? { opsUrl: '' }, 'caudal_http_requests_in_flight');

const holdCreations = () => stack.database.query('insert into public.hold values (true)');
const letGo = () => stack.database.query('delete from public.hold');

interface Sent {
  readonly reference: string;
  readonly answer: Promise<Answer>;
}

function create(api = stack.api): Sent {
  const reference = newReference();
  return { reference, answer: api.post('/payins', brebPayin({ reference })) };
}

async function fill(): Promise<Sent[]> {
  const sent = Array.from({ length: PLACES }, () => create());
  await until('all places are taken', async () => (await inside()) === PLACES);
  return sent;
}

const statuses = async (sent: readonly Sent[]) =>
  Promise.all(sent.map(async ({ answer }) => (await answer).status));

describe('a process that is full', () => {
  it('turns away at once, with 503 and when to come again; nothing was done, and all that it let in is done', async () => {
    await holdCreations();
    const letIn = await fill();
    const turnedAway = Array.from({ length: 20 }, () => create());
    for (const { answer } of turnedAway) {
      const { status, body, headers } = await answer;
      expect([status, body['code']]).toEqual([503, 'overloaded']);
      expect(['1', '2', '3']).toContain(headers.get('retry-after'));
    }
    await letGo();
    expect(await statuses(letIn)).toEqual([201, 201, 201, 201]);
    const stored = async (sent: readonly Sent[]) =>
      (
        await stack.database.query<{ count: number }>(
          `select count(*)::int as count from caudal.resource_references where reference = any($1)`,
          [sent.map(({ reference }) => reference)],
        )
      )[0]?.count;
    expect(await stored(turnedAway)).toBe(0);
    expect(await stored(letIn)).toBe(PLACES);
    expect((await create().answer).status).toBe(201);
  });

  it('does not turn away another organization, nor reads, nor payers, nor rails with news', async () => {
    const link = await stack.api.post('/payment-links', openLink());
    const paid = await stack.api.post('/payins', brebPayin());
    const { keyString: key } = paid.body['sourceData'] as { keyString: string };
    await until('the key is registered', async () => (await simulator.key(key))?.status === 'REGISTERED');
    const other = await stack.newOrganization();
    const theirs = stack.api.as(other.apiKey);
    await theirs.get('/payins');

    await holdCreations();
    const letIn = await fill();
    const quiet = create(theirs);
    await until('the other is let in', async () => (await inside()) === PLACES + 1);
    expect((await create().answer).status).toBe(503);
    expect((await stack.api.get('/payins')).status).toBe(200);
    expect((await fetch(String(link.body['paymentLinkUrl']))).status).toBe(200);
    await simulator.pay({ key });
    await until('the news is stored', async () => {
      const [row] = await stack.database.query<{ count: number }>(
        `select count(*)::int as count from caudal.rail_notices`,
      );
      return (row?.count ?? 0) > 0;
    });
    await letGo();
    expect(await statuses([...letIn, quiet])).toEqual([201, 201, 201, 201, 201]);
  });

  it('stays full while it works for clients that hung up', async () => {
    await holdCreations();
    const body = () => JSON.stringify(brebPayin());
    const { port } = new URL(stack.apis[0]?.url ?? '');
    const hungUp = Array.from({ length: PLACES }, () => {
      const text = body();
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
      socket.write(
        `POST /payins HTTP/1.1\r\nhost: x\r\nx-api-key: ${stack.organization.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
      );
      return socket;
    });
    await until('all places are taken', async () => (await inside()) === PLACES);
    const before = await readMetric(
      stack.apis[0] ?? { opsUrl: '' },
      'caudal_http_requests_rejected_total',
    ).catch(() => 0);
    for (const socket of hungUp) socket.destroy();
    for (let index = 0; index < 5; index += 1) expect((await create().answer).status).toBe(503);
    expect(await readMetric(stack.apis[0] ?? { opsUrl: '' }, 'caudal_http_requests_rejected_total')).toBe(
      before + 5,
    );
  });

  it('is left by a client that hangs up before its request is whole', async () => {
    const { port } = new URL(stack.apis[0]?.url ?? '');
    const sockets = Array.from({ length: PLACES }, () => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
      socket.write(
        `POST /payins HTTP/1.1\r\nhost: x\r\nx-api-key: ${stack.organization.apiKey}\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{`,
      );
      return socket;
    });
    await until('all places are taken', async () => (await inside()) === PLACES);
    for (const socket of sockets) socket.destroy();
    await until('the places are left', async () => (await inside()) === 0);
    expect((await create().answer).status).toBe(201);
  });

  it('is left by a client that hung up while it was being looked up who it is', async () => {
    const stranger = await stack.newOrganization();
    const { port } = new URL(stack.apis[0]?.url ?? '');
    const holder = new Client({ connectionString: stack.database.url });
    await holder.connect();
    await holder.query('begin; lock table caudal.api_keys in access exclusive mode');
    const body = JSON.stringify(brebPayin());
    const sockets = Array.from({ length: PLACES }, () => {
      const socket = connect({ port: Number(port), host: '127.0.0.1' });
      socket.write(
        `POST /payins HTTP/1.1\r\nhost: x\r\nx-api-key: ${stranger.apiKey}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
      );
      return socket;
    });
    await until('they are being looked up', async () => {
      const [row] = await stack.database.query<{ count: number }>(
        "select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock' and query like '%caudal.api_keys%'",
      );
      return (row?.count ?? 0) > 0;
    });
    for (const socket of sockets) socket.destroy();
    // Asked after them, the process answers after it has heard of them.
    for (let index = 0; index < 3; index += 1) expect(await inside()).toBe(0);
    await holder.query('rollback');
    await holder.end();
    expect((await create(stack.api.as(stranger.apiKey)).answer).status).toBe(201);
    expect(await inside()).toBe(0);
  });

  it('is not filled by those who wait for a bank', async () => {
    const fault = await simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'hang' });
    const waiting: Promise<Answer>[] = [];
    for (let index = 1; index <= PLACES + 2; index += 1) {
      waiting.push(stack.api.post('/payins', psePayin()));
      await until('the bank is asked', async () => (await simulator.struck(fault)) >= index);
      expect(await inside()).toBe(0);
    }
    expect((await create().answer).status).toBe(201);
    expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual(waiting.map(() => 201));
  });
});
