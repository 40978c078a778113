import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';
import { postponePolls, waitForAnswers, whilePaused } from './payout-steps.ts';

const UNKNOWN_PAYOUT = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';
const AUTHOR_AND_NOTE = ['--by', 'Laura', '--note', 'según el extracto del banco'];

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
  await driver.checkLedger();
});

interface Action {
  readonly operator: string;
  readonly action: string;
  readonly resource: string;
  readonly details: Readonly<Record<string, unknown>>;
  readonly note: string | null;
}

const readAudit = async (id: string) =>
  (JSON.parse(await driver.command('audit', 'list', '--json')) as Action[]).filter(
    ({ resource }) => resource === id,
  );
const resolve = (id: string, ...rest: readonly string[]) => driver.command('payouts', 'resolve', id, ...rest);

/** A payout that stays in progress at the rail. */
async function createInProgress(): Promise<CreatedPayout> {
  const created = await driver.create({ key: '@TESTTIMEOUT' });
  await until('its answer is recorded', async () => (await driver.attempts(created.id))[0]?.answer);
  return created;
}

describe('payouts unknown and show', () => {
  it('list payouts without an outcome after a minute, with the details an operator needs to query the rail', async () => {
    expect(await driver.command('payouts', 'unknown')).toContain('has an outcome');
    const created = await createInProgress();
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toEqual([]);
    await stack.shiftTime(61_000);
    await driver.waitUntilIdle();
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toMatchObject([
      {
        id: created.id,
        organizationId: stack.organization.organizationId,
        amountInCents: 120_050,
        reference: created.payout.reference,
        endToEndId: created.endToEndId,
        attempts: 1,
        lastAnswer: 'accepted',
        reason: 'rail_in_progress',
      },
    ]);
    const text = await driver.command('payouts', 'unknown');
    for (const part of [
      created.id,
      'COP 1200.50',
      'attempts: 1',
      'last answer: accepted',
      created.endToEndId,
    ])
      expect(text).toContain(part);
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toEqual([]);
  });

  it('show lists every attempt with its result', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down', times: 1 });
    const created = await driver.create();
    await until('the first attempt failed', async () => (await driver.attempts(created.id))[0]?.answer);
    await stack.shiftTime(41_000);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    await waitForAnswers(driver, created, 2);
    const order = await driver.simulator.order(created.endToEndId);
    expect(JSON.parse(await driver.command('payouts', 'show', created.id, '--json'))).toMatchObject({
      id: created.id,
      status: 'CONFIRMED',
      endToEndId: created.endToEndId,
      executionId: order?.executionId,
      attempts: [
        { number: 1, answer: 'unknown', reason: expect.stringContaining('503') as string },
        { number: 2, answer: 'accepted', reason: null },
      ],
    });
    const text = await driver.command('payouts', 'show', created.id);
    expect(text).toMatch(/^CONFIRMED {2}COP 1200\.50/);
    expect(text).toMatch(/1\. committed .+: unknown, the node answered 503\n/);
    expect(text).toMatch(/2\. committed .+: accepted\n/);
    expect(text, 'the receiver is personal data').not.toContain('@TESTOK');
  });
});

describe('payouts resolve', () => {
  it('--confirm ends it with event, transfer and audit entry; a later rail notification raises no anomaly', async () => {
    const created = await createInProgress();
    const { held } = await driver.balance();
    expect(await resolve(created.id, '--confirm', ...AUTHOR_AND_NOTE)).toContain(
      `${created.id} is CONFIRMED by your decision`,
    );
    expect((await driver.get(created.id)).status).toBe('CONFIRMED');
    expect(await driver.causes(created.id)).toEqual(['created', 'confirmed_by_operator']);
    expect(await driver.events(created.id)).toEqual(['payout.confirmed']);
    expect((await driver.balance()).held).toBe(held - 120_050);
    expect(await readAudit(created.id)).toMatchObject([
      {
        operator: 'Laura',
        action: 'payouts.resolve',
        details: { decision: 'confirm', decidedBy: 'operator' },
        note: 'según el extracto del banco',
      },
    ]);
    const { executionId } = await driver.simulator.endOrder({
      endToEndId: created.endToEndId,
      outcome: 'SETTLED',
    });
    await until('the execution is known', async () => {
      const [row] = await driver.query<{ execution_id: string | null }>(
        'select execution_id from caudal.payouts where id = $1',
        [created.id],
      );
      return row?.execution_id === executionId;
    });
    await driver.waitUntilIdle();
    expect(await driver.anomalies(created.id)).toEqual([]);
    expect(await driver.transfers(created.id)).toHaveLength(2);
    expect(await driver.events(created.id)).toEqual(['payout.confirmed']);
  });

  it('--confirm followed by a rail rejection raises a contradiction anomaly', async () => {
    const created = await createInProgress();
    await resolve(created.id, '--confirm', ...AUTHOR_AND_NOTE);
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'REJECTED' });
    await until('the anomaly is recorded', async () => (await driver.anomalies(created.id)).length > 0);
    expect(await driver.anomalies(created.id)).toMatchObject([{ kind: 'contradiction', cents: null }]);
    expect((await driver.get(created.id)).status).toBe('CONFIRMED');
  });

  it('--decline is rejected while the order may still arrive, then refunds; a later execution is charged to suspense', async () => {
    const before = await driver.balance();
    const query = await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order-query', fault: 'down' });
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'lost-answer', times: 1 });
    const created = await createInProgress();
    await expect(resolve(created.id, '--decline', ...AUTHOR_AND_NOTE)).rejects.toThrow(/may still arrive/);
    await stack.shiftTime(41_000);
    await until('the rail was polled', async () => (await driver.simulator.timesApplied(query)) > 1);
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    await resolve(created.id, '--decline', '--error-code', 'ACCOUNT_CLOSED', ...AUTHOR_AND_NOTE);
    await driver.simulator.clearFaults();
    expect(await driver.get(created.id)).toMatchObject({ status: 'DECLINED', errorCode: 'ACCOUNT_CLOSED' });
    expect(await driver.causes(created.id)).toEqual(['created', 'declined_by_operator']);
    expect(await driver.events(created.id)).toEqual(['payout.declined']);
    expect(await driver.balance()).toEqual(before);
    expect(await readAudit(created.id)).toMatchObject([
      { action: 'payouts.resolve', details: { decision: 'decline' } },
    ]);
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await until('the anomaly is recorded', async () => (await driver.anomalies(created.id)).length > 0);
    expect(await driver.anomalies(created.id)).toMatchObject([{ kind: 'sent_late', cents: '-120050' }]);
    expect((await driver.get(created.id)).status).toBe('DECLINED');
  });

  it('--decline requires --anyway when the rail reports the order as in progress', async () => {
    const created = await createInProgress();
    await stack.shiftTime(41_000);
    await driver.waitUntilIdle();
    await expect(resolve(created.id, '--decline', ...AUTHOR_AND_NOTE)).rejects.toThrow(/add --anyway/);
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    expect(await readAudit(created.id)).toEqual([]);
    await resolve(created.id, '--decline', '--anyway', ...AUTHOR_AND_NOTE);
    expect(await driver.get(created.id)).toMatchObject({ status: 'DECLINED', errorCode: 'RAIL_REJECTED' });
    await stack.shiftTime(65_000);
    expect(JSON.parse(await driver.command('payouts', 'unknown', '--json'))).toEqual([]);
  });

  it('--decline --anyway is rejected within a minute of sending', async () => {
    const created = await createInProgress();
    await expect(resolve(created.id, '--decline', '--anyway', ...AUTHOR_AND_NOTE)).rejects.toThrow(
      /may still arrive/,
    );
    expect((await driver.get(created.id)).status).toBe('PROCESSING');
    await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome: 'SETTLED' });
    await driver.waitForStatus(created.id, 'CONFIRMED');
  });

  it.each([
    ['SETTLED', 'CONFIRMED', '--decline'],
    ['REJECTED', 'DECLINED', '--confirm'],
  ] as const)(
    "polls the rail once more: %s at the rail becomes %s, regardless of the operator's decision",
    async (outcome, status, option) => {
      const created = await createInProgress();
      await stack.shiftTime(41_000);
      await driver.waitUntilIdle();
      // Workers poll every five seconds: only the command may find the outcome.
      await postponePolls(driver, created);
      await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice', times: 1 });
      await driver.simulator.endOrder({ endToEndId: created.endToEndId, outcome });
      expect(await resolve(created.id, option, ...AUTHOR_AND_NOTE)).toMatch(
        `payout ${created.id} is ${status}`,
      );
      expect((await driver.get(created.id)).status).toBe(status);
      expect(await driver.events(created.id)).toHaveLength(1);
      expect(await readAudit(created.id)).toMatchObject([{ details: { decidedBy: 'rail' } }]);
    },
  );

  it('by two operators at the same time ends the payout once', async () => {
    const created = await createInProgress();
    await stack.shiftTime(41_000);
    const results = await Promise.allSettled([
      stack.command('payouts', 'resolve', created.id, '--confirm', ...AUTHOR_AND_NOTE),
      stack.command('payouts', 'resolve', created.id, '--decline', '--anyway', ...AUTHOR_AND_NOTE),
    ]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    expect(await driver.events(created.id)).toHaveLength(1);
    expect(await driver.transfers(created.id)).toHaveLength(2);
    expect(await readAudit(created.id)).toHaveLength(1);
  });

  it('rejects a payout that was never sent, has ended, or does not exist', async () => {
    const id = await whilePaused(stack, driver, async () => {
      const created = await driver.create();
      await expect(resolve(created.id, '--confirm', ...AUTHOR_AND_NOTE)).rejects.toThrow(/never sent/);
      expect(await driver.command('payouts', 'show', created.id)).toContain('never sent');
      return created.id;
    });
    await driver.waitForStatus(id, 'CONFIRMED');
    await expect(resolve(id, '--decline', ...AUTHOR_AND_NOTE)).rejects.toThrow(/already final: CONFIRMED/);
    expect(await readAudit(id)).toEqual([]);
    await expect(resolve(UNKNOWN_PAYOUT, '--confirm', ...AUTHOR_AND_NOTE)).rejects.toThrow(/no such payout/);
    await expect(driver.command('payouts', 'show', UNKNOWN_PAYOUT)).rejects.toThrow(/no such payout/);
  });

  it.each([
    [['--confirm', '--decline', ...AUTHOR_AND_NOTE], /exactly one of/],
    [[...AUTHOR_AND_NOTE], /exactly one of/],
    [['--confirm', '--resend', ...AUTHOR_AND_NOTE], /exactly one of/],
    [['--confirm', '--by', 'Laura'], /--note is missing/],
    [['--decline', '--error-code', 'WHATEVER', ...AUTHOR_AND_NOTE], /is not one of/],
  ])('rejects %j with a clear error', async (args, message) => {
    await expect(resolve(UNKNOWN_PAYOUT, ...args)).rejects.toThrow(message);
  });
});

describe('the operator audit log', () => {
  async function withRole<T>(
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

  it('cannot be updated or deleted by any database role, and merchant roles cannot read it', async () => {
    const before = await driver.query('select * from caudal.operator_actions order by id');
    expect(before.length).toBeGreaterThan(0);
    for (const statement of [
      "update caudal.operator_actions set operator = 'nobody'",
      "update caudal.operator_actions set note = null where operator = 'Laura'",
      'delete from caudal.operator_actions',
      'truncate caudal.operator_actions',
    ])
      for (const role of ['readUrl', 'batchUrl', 'systemUrl'] as const)
        await expect(withRole(role, (client) => client.query(statement))).rejects.toThrow(
          'permission denied',
        );
    for (const role of ['readUrl', 'batchUrl'] as const)
      await expect(
        withRole(role, (client) => client.query('select from caudal.operator_actions')),
      ).rejects.toThrow('permission denied');
    expect(await driver.query('select * from caudal.operator_actions order by id')).toEqual(before);
  });

  it('lists who decided what and why, newest first', async () => {
    const created = await createInProgress();
    await resolve(created.id, '--confirm', '--by', 'Iván', '--note', 'llamada al banco');
    const [first] = (await driver.command('audit', 'list')).split('\n');
    expect(first).toMatch(
      new RegExp(`payouts\\.resolve  ${created.id}  by Iván .*decision=confirm .*note: llamada al banco$`),
    );
  });
});
