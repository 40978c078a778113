import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { type MadePayout, PayoutDriver } from '../harness/payout-driver.ts';
import { readMetric } from '../harness/read-metric.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

vi.setConfig({ testTimeout: 60_000 });

const NOBODY = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const WHY = ['--by', 'Laura', '--note', 'según el extracto del banco'];

let stack: Stack;
let driver: PayoutDriver;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  await driver.fund();
});
afterAll(() => stack?.stop());
afterEach(async () => {
  await driver.simulator.clearFaults();
  await driver.booksAreWhole();
});

interface Action {
  readonly operator: string;
  readonly action: string;
  readonly resource: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly note: string | null;
}

const audit = async (id: string) =>
  (JSON.parse(await driver.command('audit', 'list', '--json')) as Action[]).filter(
    ({ resource }) => resource === id,
  );
const resolve = (id: string, ...rest: readonly string[]) => driver.command('payouts', 'resolve', id, ...rest);

/** At the rail, which does nothing about it by itself. */
async function waiting(): Promise<MadePayout> {
  const made = await driver.create({ key: '@TESTTIMEOUT' });
  await until('its answer is written down', async () => (await driver.attempts(made.id))[0]?.answer);
  return made;
}

describe('payouts unknown and show', () => {
  it('list what has no outcome after a minute, with all that an operator needs to ask the rail', async () => {
    expect(await driver.command('payouts', 'unknown')).toContain('has its outcome');
    const made = await waiting();
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toEqual([]);
    await stack.shiftTime(61_000);
    await driver.quiet();
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toMatchObject([
      {
        id: made.id,
        organizationId: stack.organization.organizationId,
        amountInCents: 120_050,
        reference: made.payout.reference,
        endToEndId: made.endToEndId,
        attempts: 1,
        lastAnswer: 'accepted',
        reason: 'rail_in_progress',
      },
    ]);
    const text = await driver.command('payouts', 'unknown');
    for (const part of [made.id, 'COP 1200.50', '1 sent', 'last answer: accepted', made.endToEndId])
      expect(text).toContain(part);
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await driver.reaches(made.id, 'CONFIRMED');
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toEqual([]);
  });

  it('show tells every send and what came of it', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down', times: 1 });
    const made = await driver.create();
    await until('the first attempt failed', async () => (await driver.attempts(made.id))[0]?.answer);
    await stack.shiftTime(41_000);
    await driver.reaches(made.id, 'CONFIRMED');
    const order = await driver.simulator.order(made.endToEndId);
    expect(JSON.parse(await driver.command('payouts', 'show', made.id, '--json'))).toMatchObject({
      id: made.id,
      status: 'CONFIRMED',
      endToEndId: made.endToEndId,
      executionId: order?.executionId,
      attempts: [
        { number: 1, answer: 'unknown', reason: expect.stringContaining('503') as string },
        { number: 2, answer: 'accepted', reason: null },
      ],
    });
    const text = await driver.command('payouts', 'show', made.id);
    expect(text).toMatch(/^CONFIRMED {2}COP 1200\.50/);
    expect(text).toMatch(/1\. committed .+: unknown, the node answered 503\n/);
    expect(text).toMatch(/2\. committed .+: accepted\n/);
    expect(text, 'who receives is personal data').not.toContain('@TESTOK');
  });
});

describe('payouts resolve', () => {
  it('--confirm ends it, with event, money and audit; when the rail tells of it later nothing is odd', async () => {
    const made = await waiting();
    const { held } = await driver.balance();
    expect(await resolve(made.id, '--confirm', ...WHY)).toContain(`${made.id} is CONFIRMED by your word`);
    expect((await driver.get(made.id)).status).toBe('CONFIRMED');
    expect(await driver.causes(made.id)).toEqual(['created', 'confirmed_by_operator']);
    expect(await driver.events(made.id)).toEqual(['payout.confirmed']);
    expect((await driver.balance()).held).toBe(held - 120_050);
    expect(await audit(made.id)).toMatchObject([
      {
        operator: 'Laura',
        action: 'payouts.resolve',
        details: { asked: 'confirm', decidedBy: 'operator' },
        note: 'según el extracto del banco',
      },
    ]);
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: made.endToEndId,
      outcome: 'SETTLED',
    });
    await until('the execution is known', async () => {
      const [row] = await driver.query<{ execution_id: string | null }>(
        'select execution_id from caudal.payouts where id = $1',
        [made.id],
      );
      return row?.execution_id === executionId;
    });
    await driver.quiet();
    expect(await driver.anomalies(made.id)).toEqual([]);
    expect(await driver.moves(made.id)).toHaveLength(2);
    expect(await driver.events(made.id)).toEqual(['payout.confirmed']);
  });

  it('--confirm of what the rail then rejects is a contradiction for a person', async () => {
    const made = await waiting();
    await resolve(made.id, '--confirm', ...WHY);
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'REJECTED' });
    await until('it is noticed', async () => (await driver.anomalies(made.id)).length > 0);
    expect(await driver.anomalies(made.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
    expect((await driver.get(made.id)).status).toBe('CONFIRMED');
  });

  it('--decline is refused while it may still arrive, then gives the money back; sent after all, suspense owes it', async () => {
    const before = await driver.balance();
    const query = await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order-query', fault: 'down' });
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'lost-answer', times: 1 });
    const made = await waiting();
    await expect(resolve(made.id, '--decline', ...WHY)).rejects.toThrow(/may still arrive/);
    await stack.shiftTime(41_000);
    await until('the rail was asked', async () => (await driver.simulator.struck(query)) > 1);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    await resolve(made.id, '--decline', '--error-code', 'ACCOUNT_CLOSED', ...WHY);
    await driver.simulator.clearFaults();
    expect(await driver.get(made.id)).toMatchObject({ status: 'DECLINED', errorCode: 'ACCOUNT_CLOSED' });
    expect(await driver.causes(made.id)).toEqual(['created', 'declined_by_operator']);
    expect(await driver.events(made.id)).toEqual(['payout.declined']);
    expect(await driver.balance()).toEqual(before);
    expect(await audit(made.id)).toMatchObject([
      { action: 'payouts.resolve', details: { asked: 'decline' } },
    ]);
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await until('it is noticed', async () => (await driver.anomalies(made.id)).length > 0);
    expect(await driver.anomalies(made.id)).toMatchObject([{ kind: 'sent_late', cents: '-120050' }]);
    expect((await driver.get(made.id)).status).toBe('DECLINED');
  });

  it('--decline of what the rail says to be at needs another word', async () => {
    const made = await waiting();
    await stack.shiftTime(41_000);
    await driver.quiet();
    await expect(resolve(made.id, '--decline', ...WHY)).rejects.toThrow(/add --anyway/);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    expect(await audit(made.id)).toEqual([]);
    await resolve(made.id, '--decline', '--anyway', ...WHY);
    expect(await driver.get(made.id)).toMatchObject({ status: 'DECLINED', errorCode: 'RAIL_REJECTED' });
    await stack.shiftTime(65_000);
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toEqual([]);
  });

  it('--decline in the minute in which it left is refused though the operator insists', async () => {
    const made = await waiting();
    await expect(resolve(made.id, '--decline', '--anyway', ...WHY)).rejects.toThrow(/may still arrive/);
    expect((await driver.get(made.id)).status).toBe('PROCESSING');
    await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome: 'SETTLED' });
    await driver.reaches(made.id, 'CONFIRMED');
  });

  it.each([
    ['SETTLED', 'CONFIRMED', '--decline'],
    ['REJECTED', 'DECLINED', '--confirm'],
  ] as const)(
    'asks the rail once more: %s there is %s here, whatever the operator says',
    async (outcome, status, said) => {
      const made = await waiting();
      await stack.shiftTime(41_000);
      await driver.quiet();
      await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
      await driver.simulator.endOrder({ endToEndId: made.endToEndId, outcome });
      expect(await resolve(made.id, said, ...WHY)).toMatch(`payout ${made.id} is ${status}`);
      expect((await driver.get(made.id)).status).toBe(status);
      expect(await driver.events(made.id)).toHaveLength(1);
      expect(await audit(made.id)).toMatchObject([{ details: { decidedBy: 'rail' } }]);
    },
  );

  it('of one payout by two operators at once ends it once', async () => {
    const made = await waiting();
    await stack.shiftTime(41_000);
    const ends = await Promise.allSettled([
      stack.command('payouts', 'resolve', made.id, '--confirm', ...WHY),
      stack.command('payouts', 'resolve', made.id, '--decline', '--anyway', ...WHY),
    ]);
    expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await driver.events(made.id)).toHaveLength(1);
    expect(await driver.moves(made.id)).toHaveLength(2);
    expect(await audit(made.id)).toHaveLength(1);
  });

  it('has nothing to say about what was never sent, has ended, or does not exist', async () => {
    await driver.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'falla', '--by', 'Laura');
    await until('the workers know', async () => {
      const pauses = await Promise.all(stack.workers.map((each) => readMetric(each, 'caudal_rail_pauses')));
      return pauses.every((count) => count === 1);
    });
    const { id } = await driver.create();
    await expect(resolve(id, '--confirm', ...WHY)).rejects.toThrow(/never sent/);
    expect(await driver.command('payouts', 'show', id)).toContain('never sent');
    await driver.command('rails', 'resume', '--rail', 'BRE_B');
    await driver.reaches(id, 'CONFIRMED');
    await expect(resolve(id, '--decline', ...WHY)).rejects.toThrow(/ended before: CONFIRMED/);
    expect(await audit(id)).toEqual([]);
    await expect(resolve(NOBODY, '--confirm', ...WHY)).rejects.toThrow(/no such payout/);
    await expect(driver.command('payouts', 'show', NOBODY)).rejects.toThrow(/no such payout/);
  });

  it.each([
    [['--confirm', '--decline', ...WHY], /exactly one of/],
    [[...WHY], /exactly one of/],
    [['--confirm', '--resend', ...WHY], /exactly one of/],
    [['--confirm', '--by', 'Laura'], /--note is missing/],
    [['--decline', '--error-code', 'WHATEVER', ...WHY], /is none of/],
  ])('%j is refused in plain words', async (args, words) => {
    await expect(resolve(NOBODY, ...args)).rejects.toThrow(words);
  });
});

describe('the audit', () => {
  async function as<T>(
    role: 'readUrl' | 'batchUrl' | 'systemUrl',
    work: (client: Client) => Promise<T>,
  ): Promise<T> {
    const { database } = readConfig('operator', stack.settings);
    const client = new Client({ connectionString: database[role] });
    await client.connect();
    try {
      return await work(client);
    } finally {
      await client.end();
    }
  }

  it('cannot be changed nor deleted by any role of ours, and merchants’ roles cannot even read it', async () => {
    const before = await driver.query('select * from caudal.operator_actions order by id');
    expect(before.length).toBeGreaterThan(0);
    for (const statement of [
      "update caudal.operator_actions set operator = 'nobody'",
      "update caudal.operator_actions set note = null where operator = 'Laura'",
      'delete from caudal.operator_actions',
      'truncate caudal.operator_actions',
    ])
      for (const role of ['readUrl', 'batchUrl', 'systemUrl'] as const)
        await expect(as(role, (client) => client.query(statement))).rejects.toThrow('permission denied');
    for (const role of ['readUrl', 'batchUrl'] as const)
      await expect(as(role, (client) => client.query('select from caudal.operator_actions'))).rejects.toThrow(
        'permission denied',
      );
    expect(await driver.query('select * from caudal.operator_actions order by id')).toEqual(before);
  });

  it('tells people who decided what and why, newest first', async () => {
    const made = await waiting();
    await resolve(made.id, '--confirm', '--by', 'Iván', '--note', 'llamada al banco');
    const [first] = (await driver.command('audit', 'list')).split('\n');
    expect(first).toMatch(
      new RegExp(`payouts\\.resolve  ${made.id}  by Iván .*asked=confirm .*note: llamada al banco$`),
    );
  });
});
