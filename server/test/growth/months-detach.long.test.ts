import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadHistory, type Month } from '../../../bench/src/growth/load.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { brebPayin } from '../harness/payin-requests.ts';
import { listPage } from '../harness/payin-responses.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const DETACHED_TABLES = [
  'events',
  'payin_history',
  'payout_attempts',
  'payout_history',
  'rail_notices',
  'webhook_attempts',
  'webhook_deliveries',
];

let stack: Stack;
let months: readonly Month[];
beforeAll(async () => {
  stack = await startStack({ workers: 1 });
  const organizationIds = [stack.organization.organizationId];
  months = await loadHistory(stack.settings, {
    rows: 1800,
    months: 9,
    organizationIds,
    databaseUrl: stack.database.url,
  });
});
afterAll(() => stack.stop());

/** The month `before` months before the last loaded one, as a command argument. */
function month(before: number): string {
  const name = months.at(-1 - before)?.name ?? '';
  return `${name.slice(0, 4)}-${name.slice(4)}`;
}

const detach = (before: string) => runOperatorCommand(stack.settings, 'months', 'detach', '--before', before);

async function readAttached(name: string): Promise<string[]> {
  const rows = await stack.database.query<{ table: string }>(
    `select left(c.relname, -7) as "table" from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where c.relkind = 'r' and c.relname like '%\\_' || $1 order by 1`,
    [name.replace('-', '')],
  );
  return rows.map(({ table }) => table);
}

/** Opens a transaction that has read events: detaching them waits for its end. */
async function startLongReader(): Promise<Client> {
  const reader = new Client({ connectionString: stack.database.url });
  await reader.connect();
  await reader.query('begin');
  await reader.query('select from caudal.events limit 1');
  return reader;
}

function waitUntilCommandBlocks(): Promise<number> {
  return until('the command waits for the reader', async () => {
    const [row] = await stack.database.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and application_name = 'caudal-months' and wait_event_type = 'Lock'",
    );
    return row?.pid;
  });
}

describe('months detach', () => {
  it('keeps six full months and reports the latest possible month', async () => {
    expect(await detach(month(4))).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`--before can be ${month(5)} at the latest`) as string,
    });
    expect(await detach('2026-13')).toMatchObject({ code: 2 });
    expect(await readAttached(month(6))).toEqual(expect.arrayContaining(DETACHED_TABLES));
  });

  it.each([
    [
      'a payin that has not ended',
      "update caudal.payins set status = 'PROCESSING', result_at = null, settlement_status = null, settlement_id = null where id = $1",
      "update caudal.payins set status = 'CANCELED', result_at = updated_at where id = $1",
      'payins',
    ],
    [
      'a payin with an unverified payment',
      "update caudal.payins set status = 'CONFIRMED', confirmed_amount_in_cents = amount_in_cents, settlement_status = 'PENDING_SETTLEMENT' where id = $1",
      "update caudal.payins set status = 'CANCELED', confirmed_amount_in_cents = null, settlement_status = null where id = $1",
      'payins',
    ],
    [
      'a delivery that is still retried',
      "update caudal.webhook_deliveries set status = 'PENDING', ended_at = null, next_attempt_at = created_at + interval '10 years', give_up_at = caudal.now() + interval '1 day' where event_id = (select event_id from caudal.final_events where resource_id = $1)",
      // It stays PENDING like those of a deleted endpoint, but is not retried any more.
      'update caudal.webhook_deliveries set give_up_at = created_at where event_id = (select event_id from caudal.final_events where resource_id = $1)',
      'pending webhook deliveries',
    ],
  ])('detaches nothing while there is %s', async (_, open, close, unit) => {
    const [payin] = await stack.database.query<{ id: string }>(
      `select id from caudal.payins where status = 'CANCELED' and created_at >= $1 order by id limit 1`,
      [new Date(months[1]?.startMs ?? 0)],
    );
    await stack.database.query(open, [payin?.id]);
    const rejected = await detach(month(5));
    expect(rejected).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(`${month(7)} still has open rows: 1 ${unit}`) as string,
    });
    expect(await readAttached(month(8))).toEqual(expect.arrayContaining(DETACHED_TABLES));
    await stack.database.query(close, [payin?.id]);
  });

  it('reattaches events when a replay created deliveries of them since the check', async () => {
    const reader = await startLongReader();
    const command = detach(month(7));
    await waitUntilCommandBlocks();
    const opened = await stack.database.query<{ event_id: string }>(
      `update caudal.webhook_deliveries set status = 'PENDING', ended_at = null, next_attempt_at = created_at + interval '10 years', give_up_at = caudal.now() + interval '1 day'
       where event_id = (select event_id from caudal.webhook_deliveries where created_at >= $1 and created_at < $2 limit 1) returning event_id`,
      [new Date(months[0]?.startMs ?? 0), new Date(months[0]?.endMs ?? 0)],
    );
    await reader.end();
    expect(await command).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        `${month(8)} still has open rows: ${opened.length} pending webhook deliveries`,
      ) as string,
    });
    expect(await readAttached(month(8))).toEqual(expect.arrayContaining(DETACHED_TABLES));
    const eventId = opened[0]?.event_id ?? '';
    expect((await stack.api.get(`/events/${eventId}`)).status).toBe(200);
    await stack.database.query(
      'update caudal.webhook_deliveries set give_up_at = created_at where event_id = $1',
      [eventId],
    );
  });

  it('waits for a long reader without blocking others, and a later run completes an interrupted one', async () => {
    const reader = await startLongReader();
    const first = detach(month(7));
    const pid = await waitUntilCommandBlocks();
    expect((await stack.api.get('/events')).status).toBe(200);
    await stack.database.query('select pg_terminate_backend($1)', [pid]);
    expect((await first).code).toBe(1);
    await reader.end();
    expect(await detach(month(7))).toMatchObject({ code: 0 });
    expect(await readAttached(month(8))).toEqual([
      'final_events',
      'ledger_transfers',
      'merchant_actions',
      'payer_authorizations',
      'payins',
      'payment_links',
      'payouts',
    ]);
  });

  it('detaches months under load without a failed request, and the ledger stays consistent', async () => {
    const answers: number[] = [];
    const stopLoad = new AbortController();
    const spans = months.map(
      ({ startMs, endMs }) =>
        `createdFrom=${new Date(startMs).toISOString()}&createdTo=${new Date(endMs).toISOString()}`,
    );
    const users = Array.from({ length: 6 }, async (_, user) => {
      for (let index = 0; !stopLoad.signal.aborted; index += 1) {
        const span = spans[index % spans.length] ?? '';
        const answer = await [
          () => stack.api.post('/payins', brebPayin()),
          () => stack.api.get(`/payins?${span}`),
          () => stack.api.get(`/events?${span}`),
        ][(index + user) % 3]?.();
        answers.push(answer?.status ?? 0);
      }
    });
    await until('the load has started', () => Promise.resolve(answers.length > 50));
    const { code, stdout } = await detach(month(5));
    await sleep(200);
    stopLoad.abort();
    await Promise.all(users);
    expect({ code, detached: /Detached (\d+)/.exec(stdout)?.[1] }).toEqual({
      code: 0,
      detached: String(2 * DETACHED_TABLES.length),
    });
    expect(answers.filter((status) => status >= 300)).toEqual([]);
    expect(await readAttached(month(6))).not.toContain('events');
    expect(await readAttached(month(5))).toEqual(expect.arrayContaining(DETACHED_TABLES));

    const [first] = spans;
    const { body } = await stack.api.get<{ data: object[] }>(`/events?${first}`);
    expect(body.data).toEqual([]);
    expect((await listPage(stack.api, `?${first}`)).data.length).toBeGreaterThan(0);
    expect(await runOperatorCommand(stack.settings, 'ledger', 'verify')).toMatchObject({ code: 0 });
    const leftovers = await stack.database.query(
      "select relname from pg_class where relname like 'events\\_______' and not relispartition and (relrowsecurity or relforcerowsecurity)",
    );
    expect(leftovers).toEqual([]);
    expect(await detach(month(5))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Nothing to detach') as string,
    });
  });

  it('leaves months that retention list shows until they are dropped', async () => {
    const list = async () => {
      const { stdout } = await runOperatorCommand(stack.settings, 'retention', 'list', '--json');
      return (JSON.parse(stdout) as { detachedMonths: string[] }).detachedMonths;
    };
    const name = `events_${month(6).replace('-', '')}`;
    const listed = await list();
    expect(listed).toContain(name);
    await stack.database.query(`drop table caudal.${name}`);
    expect(await list()).toEqual(listed.filter((each) => each !== name));
  });
});
