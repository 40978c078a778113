import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { suspendOrganization } from '../../src/flows/operations/suspend-organization.system.ts';
import { newLeaseToken } from '../../src/kit/ids.ts';
import { commitAttempts } from '../../src/payouts/payout-send.store.ts';
import type { ApiClient } from '../harness/api-client.ts';
import { CheckoutDriver, linkRequest } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { brebPayin, newReference, psePayin } from '../harness/payin-requests.ts';
import { createPayin, toProblem } from '../harness/payin-responses.ts';
import { type CreatedPayout, PayoutDriver } from '../harness/payout-driver.ts';
import { createPayout, lookUp, payoutRequest } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayoutDriver;
let checkout: CheckoutDriver;
let inProcess: InProcess;
let apis: ApiClient[];
let organizationId: string;
beforeAll(async () => {
  stack = await startStack({ apis: 2, workers: 2, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayoutDriver(stack);
  checkout = new CheckoutDriver(stack);
  inProcess = await composeInProcess(stack.settings);
  apis = stack.apis.map((api) => stack.api.at(api.url));
  ({ organizationId } = stack.organization);
  await driver.fund(10_000_000);
});
afterAll(async () => {
  await inProcess?.close();
  await stack?.stop();
});
afterEach(async () => {
  await driver.simulator.clearFaults();
  if (await isSuspended()) await resume();
  await driver.checkLedger();
});

const suspend = (reason = 'orden de la fiscalía') =>
  driver.command('org', 'suspend', organizationId, '--by', 'Laura', '--reason', reason);

async function resume(): Promise<void> {
  await driver.command('org', 'resume', organizationId, '--by', 'Laura', '--reason', 'orden levantada');
  await waitForEveryApi(201);
}

async function isSuspended(): Promise<boolean> {
  const [row] = await driver.query<{ suspended: boolean }>(
    'select suspended_at is not null as suspended from caudal.organizations where id = $1',
    [organizationId],
  );
  return row?.suspended ?? false;
}

/** Waits until every API process has read the change. */
async function waitForEveryApi(status: 201 | 403 | 503): Promise<void> {
  await within('the change at every API process', 3000, () =>
    until(`every API process answers a creation with ${status}`, async () => {
      const answers = await Promise.all(apis.map((api) => api.post('/payins', brebPayin())));
      return answers.every((answer) => answer.status === status);
    }),
  );
}

async function countAttempts(): Promise<number> {
  const [row] = await driver.query<{ count: number }>(
    'select count(*)::int as count from caudal.payout_attempts where organization_id = $1',
    [organizationId],
  );
  return row?.count ?? 0;
}

/** A payout of another organization is sent and confirmed: the workers have completed a round since. */
async function waitForWorkerRound(): Promise<void> {
  const other = await stack.newOrganization();
  const deposit = ['--org', other.organizationId, '--amount', '1000', '--reference', newReference()];
  await driver.command('ledger', 'deposit', ...deposit);
  const api = stack.api.as(other.apiKey);
  const { id } = await createPayout(api);
  await until('the payout of another organization is confirmed', async () => {
    const { body } = await api.get<{ status: string }>(`/payouts/${id}`);
    return body.status === 'CONFIRMED';
  });
}

describe('a suspended organization', () => {
  it('gets 403 organization_suspended for payins, payouts, links and lookups from every API process within a second', async () => {
    await suspend();
    await within('the rejection by every API process', 2000, () => waitForEveryApi(403));
    for (const api of apis) {
      const answers = [
        await api.post('/payins', brebPayin()),
        await api.post('/payins', psePayin()),
        await api.post('/payouts', payoutRequest()),
        await api.post('/payment-links', linkRequest()),
        await lookUp(api, '@TESTOK'),
      ];
      for (const answer of answers)
        expect(toProblem(answer)).toMatchObject({ status: 403, code: 'organization_suspended' });
    }
    await resume();
    expect((await lookUp(stack.api, '@TESTOK')).status).toBe(200);
    await createPayout(stack.api);
    await checkout.link();
  });

  it('can read everything and cancel unsent payouts', async () => {
    const payin = await createPayin(stack.api, brebPayin());
    await suspend();
    await waitForEveryApi(403);
    for (const path of [
      `/payins/${payin.id}`,
      '/payins',
      '/payouts',
      '/payment-links',
      '/balance',
      '/events',
    ])
      expect((await stack.api.get(path)).status).toBe(200);
  });

  it('gets replays of earlier creations, and 409 for an existing reference', async () => {
    const key = { 'idempotency-key': newReference() };
    const body = brebPayin();
    const payin = await createPayin(stack.api, body, key);
    const payoutKey = { 'idempotency-key': newReference() };
    const payoutBody = payoutRequest();
    const payout = await createPayout(stack.api, payoutBody, payoutKey);
    await suspend();
    await waitForEveryApi(403);
    const again = await stack.api.post<{ id: string }>('/payins', body, key);
    expect([again.status, again.body.id, again.headers.get('idempotent-replayed')]).toEqual([
      201,
      payin.id,
      'true',
    ]);
    const payoutAgain = await stack.api.post<{ id: string }>('/payouts', payoutBody, payoutKey);
    expect([payoutAgain.status, payoutAgain.body.id]).toEqual([201, payout.id]);
    expect(toProblem(await stack.api.post('/payins', body))).toMatchObject({ code: 'reference_taken' });
  });

  it('leaves no trace of a rejected creation: the same request succeeds after the resumption', async () => {
    const key = { 'idempotency-key': newReference() };
    const body = brebPayin();
    await suspend();
    await waitForEveryApi(403);
    expect((await stack.api.post('/payins', body, key)).status).toBe(403);
    await resume();
    expect((await stack.api.post('/payins', body, key)).status).toBe(201);
  });

  it('has earlier open payins confirmed and posted, with their event', async () => {
    const { payin, key } = await checkout.outcomes.breb();
    await suspend();
    await waitForEveryApi(403);
    await driver.simulator.pay({ key });
    await checkout.outcomes.waitForStatus(payin.id, 'CONFIRMED');
    expect((await checkout.outcomes.events(payin.id)).map(({ event }) => event)).toEqual(['payin.confirmed']);
    expect(await checkout.outcomes.transfers(payin.id)).toHaveLength(1);
  });
});

describe('the payouts of a suspended organization', () => {
  it('are not sent by two workers once the command returned, and are all sent after the resumption', async () => {
    await driver.query("insert into caudal.rail_pauses values ('BRE_B', $1, 'x', 'Laura')", [organizationId]);
    await waitForEveryApi(503);
    const created: CreatedPayout[] = [];
    while (created.length < 300) created.push(...(await driver.createMany(50)));
    // Both workers hold a full batch at the slow rail, and another one waits, when the command runs.
    const before = await countAttempts();
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'slow', ms: 2000 });
    // Workers skip locked payouts: however long the command takes, it returns before all are sent.
    const holder = new Client({ connectionString: stack.database.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query('select 1 from caudal.payouts where id = any ($1::uuid[]) for update', [
      created.slice(-20).map(({ id }) => id),
    ]);
    await driver.query('delete from caudal.rail_pauses');
    await until('some are sent', async () => (await countAttempts()) > before);
    await suspend();
    const sent = await countAttempts();
    await holder.end();
    await waitForWorkerRound();
    expect(await countAttempts()).toBe(sent);
    expect(sent - before).toBeLessThan(created.length);
    const waiting = await driver.query<{ status: string }>(
      `select distinct status from caudal.payouts where organization_id = $1 and attempts = 0`,
      [organizationId],
    );
    expect(waiting.map(({ status }) => status)).toEqual(['PROCESSING']);
    await resume();
    await driver.waitForAll(created, 'CONFIRMED');
    for (const each of created.slice(0, 5)) expect(await driver.executions(each)).toBe(1);
  });

  it('that were already sent are tracked to their outcome', async () => {
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'order', fault: 'lost-answer' });
    await driver.simulator.addFault({ rail: 'BRE_B', operation: 'notice', fault: 'lost-notice' });
    const created = await driver.create();
    await driver.waitForOrder(created);
    await suspend();
    await driver.simulator.clearFaults();
    await stack.shiftTime(60_000);
    await driver.waitForStatus(created.id, 'CONFIRMED');
    expect(await driver.executions(created)).toBe(1);
  });

  it('make the command wait for a worker that is committing an attempt', async () => {
    const { deps } = inProcess;
    const order: string[] = [];
    let suspending: Promise<unknown> = Promise.resolve();
    await deps.system.transaction('commit attempts', async (tx) => {
      await commitAttempts(tx, newLeaseToken(), [organizationId], 1, 60_000);
      suspending = suspendOrganization(deps, organizationId, { by: 'Laura', reason: 'x' }).then(() =>
        order.push('suspended'),
      );
      await until('the command waits for the lock', async () => {
        const rows = await driver.query(
          `select 1 from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%suspended_by%'`,
        );
        return rows.length > 0;
      });
      order.push('committed');
    });
    await suspending;
    expect(order).toEqual(['committed', 'suspended']);
  });
});

describe('a payment link of a suspended organization', () => {
  it('shows the payer that the merchant accepts no payments, starts no attempt, and works after the resumption', async () => {
    const link = await checkout.link();
    const payer = new PayerBrowser();
    const before = await payer.open(link.paymentLinkUrl);
    expect(before.h1).toBe('¿Cómo quiere pagar?');
    const details = await payer.click(before, 'Bre-B');
    await suspend();
    // From an open page: the next request is rejected, whatever a process has cached.
    const rejected = await payer.submit(details, {
      name: 'Luisa Fernanda Pardo',
      idType: 'CO_CC',
      idNumber: '52.123.456',
      phone: '310 555 0199',
      email: 'luisa@correo.example',
      authorize: 'yes',
    });
    expect(rejected.h1).toBe('Este comercio no puede recibir pagos');
    expect((await payer.open(link.paymentLinkUrl)).h1).toBe('Este comercio no puede recibir pagos');
    expect(await checkout.attempts(link)).toEqual([]);
    await resume();
    const started = await checkout.breb(link);
    await driver.simulator.pay({ key: started.key });
    await checkout.waitForStatus(link, 'COMPLETED');
  });

  it('with an attempt in progress can be paid and completed', async () => {
    const link = await checkout.link();
    const { key } = await checkout.breb(link);
    await suspend();
    await waitForEveryApi(403);
    await driver.simulator.pay({ key });
    const { status } = await checkout.waitForStatus(link, 'COMPLETED');
    expect(status).toBe('COMPLETED');
  });
});

describe('org update', () => {
  const update = (...args: readonly string[]) =>
    driver.command('org', 'update', organizationId, '--by', 'Laura', ...args, '--json');

  it('changes the given values, keeps the others and records the previous values', async () => {
    const before = JSON.parse(await driver.command('org', 'show', organizationId, '--json'));
    const changed = {
      name: 'Tienda Boreal',
      supportContact: 'soporte@boreal.example',
      accent: '#1d4ed8',
      amountPolicy: 'ANY',
    };
    await update(
      '--name',
      changed.name,
      '--support',
      changed.supportContact,
      '--accent',
      changed.accent,
      '--amount-policy',
      'ANY',
    );
    const after = JSON.parse(await driver.command('org', 'show', organizationId, '--json'));
    expect(after).toEqual({ ...before, ...changed });
    const [row] = await driver.query<{ operator: string; details: object }>(
      "select operator, details from caudal.operator_actions where action = 'org.update' order by at desc limit 1",
    );
    expect(row).toMatchObject({ operator: 'Laura', details: { ...changed, previousName: before.name } });
  });

  it('disables a rail within a second, replays earlier creations, and enables it again', async () => {
    const key = { 'idempotency-key': newReference() };
    const body = psePayin();
    const payin = await createPayin(stack.api, body, key);
    await update('--rails', 'BRE_B');
    await within('the rejection by every API process', 3000, () =>
      until('every process rejects PSE', async () => {
        const answers = await Promise.all(apis.map((api) => api.post('/payins', psePayin())));
        return answers.every(({ status }) => status === 400);
      }),
    );
    expect(toProblem(await stack.api.post('/payins', psePayin()))).toMatchObject({
      code: 'rail_not_enabled',
    });
    expect((await createPayin(stack.api, body, key)).id).toBe(payin.id);
    await update('--rails', 'BRE_B,PSE');
    await within('the next acceptance', 3000, () =>
      until(
        'PSE is accepted again',
        async () => (await stack.api.post('/payins', psePayin())).status === 201,
      ),
    );
  });

  it.each([
    ['without a change', []],
    ['with an invalid color', ['--accent', 'azul']],
    ['with an unknown rail', ['--rails', 'VISA']],
    ['with an empty name', ['--name', '']],
  ])('is rejected %s', async (_what, args) => {
    await expect(update(...args)).rejects.toThrow('caudal:');
  });
});

describe('org suspend and org resume', () => {
  it('record who, why and since when; a second suspension changes only the reason', async () => {
    await suspend('primera');
    const first = JSON.parse(await driver.command('org', 'show', organizationId, '--json'));
    await suspend('segunda');
    const second = JSON.parse(await driver.command('org', 'show', organizationId, '--json'));
    expect(first.suspension).toMatchObject({ by: 'Laura', reason: 'primera' });
    expect(second.suspension).toEqual({ ...first.suspension, reason: 'segunda' });
    await resume();
    expect(JSON.parse(await driver.command('org', 'show', organizationId, '--json')).suspension).toBeNull();
    const rows = await driver.query<{ action: string; operator: string; note: string }>(
      "select action, operator, note from caudal.operator_actions where resource = $1 and action in ('org.suspend', 'org.resume') order by at desc, id desc limit 3",
      [organizationId],
    );
    expect(rows.map(({ action, note }) => [action, note])).toEqual([
      ['org.resume', 'orden levantada'],
      ['org.suspend', 'segunda'],
      ['org.suspend', 'primera'],
    ]);
  });

  it.each([
    [
      'an unknown organization',
      ['suspend', '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10', '--by', 'L', '--reason', 'x'],
    ],
    [
      'the operator organization',
      ['suspend', '00000000-0000-7000-8000-000000000001', '--by', 'L', '--reason', 'x'],
    ],
    ['a suspension without a reason', ['suspend', 'ID', '--by', 'L']],
    ['a resumption of an organization that is not suspended', ['resume', 'ID', '--by', 'L', '--reason', 'x']],
  ])('reject %s', async (_what, args) => {
    await expect(
      driver.command('org', ...args.map((arg) => (arg === 'ID' ? organizationId : arg))),
    ).rejects.toThrow('caudal:');
    expect(await isSuspended()).toBe(false);
  });
});
