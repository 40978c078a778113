import { afterAll, beforeAll, expect, it } from 'vitest';
import { decryptPayload } from '../../src/events/event.encryption.ts';
import type { OrganizationSecrets } from '../../src/organizations/organization.ts';
import { composeInProcess, type InProcess, settingsFor } from '../harness/in-process.ts';
import { PayinDriver, payer } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayinDriver;
let inProcess: InProcess;
let secrets: OrganizationSecrets;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayinDriver(stack);
  inProcess = await composeInProcess(settingsFor(stack.database.ownerUrl));
  ({ secrets } = await inProcess.authenticate(stack.organization.apiKey));
});
afterAll(async () => {
  await inProcess?.close();
  await stack?.stop();
});

async function readEventBody(payinId: string): Promise<Record<string, unknown>> {
  const [row] = await driver.query<{ id: string; organization_id: string; payload: Buffer }>(
    'select id, organization_id, payload from caudal.events where resource_id = $1',
    [payinId],
  );
  if (!row) throw new Error('no event');
  return JSON.parse(
    decryptPayload(secrets.dataKey, row.payload, row.organization_id, row.id).toString(),
  ) as Record<string, unknown>;
}

it('payin.confirmed contains the payin as of its confirmation, in the documented format', async () => {
  const { payin, key } = await driver.breb({ breb: { keyType: 'QR_CODE' } });
  const [paid] = await driver.simulator.pay({ key, amount: '60000.50' });
  const current = await driver.waitForStatus(payin.id, 'CONFIRMED');
  // A run skips a payin that a poll has locked.
  await until('it is settled', async () => {
    await stack.command('schedules', 'run', 'settlement');
    return (await driver.get(payin.id)).settlementStatus === 'SETTLED';
  });
  const { checkoutUrl } = current.sourceData as { checkoutUrl?: string };
  expect(await readEventBody(payin.id)).toEqual({
    id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    event: 'payin.confirmed',
    resource: 'payin',
    createdAt: current.resultAt,
    data: {
      id: payin.id,
      reference: payin.reference,
      amount: 49_800,
      amountInCents: 4_980_000,
      // The excess is in suspense.
      confirmedAmount: 49_800,
      confirmedAmountInCents: 4_980_000,
      currency: 'COP',
      status: 'CONFIRMED',
      rail: 'BRE_B',
      // The event omits the QR image, because it can be rendered again at any time.
      sourceData: {
        keyType: 'QR_CODE',
        keyString: key,
        checkoutUrl: expect.stringContaining('/p/') as string,
        endToEndId: paid?.endToEndId,
      },
      errorCode: null,
      createdAt: (current as unknown as { createdAt: string }).createdAt,
      updatedAt: current.resultAt,
      resultAt: current.resultAt,
      organizationId: stack.organization.organizationId,
      metadata: {},
    },
  });
  expect(checkoutUrl).toBeDefined();
});

it('payin.declined of a PSE payin has an errorCode and no confirmed amount', async () => {
  const { payin, reference } = await driver.pse();
  await driver.simulator.endTransaction({ reference, state: 'NOT_AUTHORIZED' });
  const current = await driver.waitForStatus(payin.id, 'DECLINED');
  expect(await readEventBody(payin.id)).toMatchObject({
    event: 'payin.declined',
    data: {
      status: 'DECLINED',
      errorCode: 'INSUFFICIENT_FUNDS',
      confirmedAmount: null,
      confirmedAmountInCents: null,
      sourceData: { pseUrl: current.sourceData.pseUrl, bank: 'CO_BANCOLOMBIA' },
    },
  });
});

it('declines a payin that PSE rejected on creation, with an event, although no bank page exists', async () => {
  const answer = await stack.api.post('/payins', {
    amountInCents: 1,
    currency: 'COP',
    rail: 'PSE',
    reference: 'too-little',
    ...payer('1020304050'),
    pse: { bank: 'CO_NEQUI', personType: 'INDIVIDUAL' },
  });
  const { id } = answer.body as { id: string };
  await driver.waitForStatus(id, 'DECLINED');
  expect(await readEventBody(id)).toMatchObject({
    event: 'payin.declined',
    data: { errorCode: 'LIMIT_EXCEEDED', sourceData: { pseUrl: null, bank: 'CO_NEQUI' } },
  });
});

it('emits no payin event for a payin of a payment link', async () => {
  const { payin, key } = await driver.breb();
  await driver.query('update caudal.payins set payment_link_id = id where id = $1', [payin.id]);
  await driver.simulator.pay({ key });
  await driver.waitForStatus(payin.id, 'CONFIRMED');
  expect(await driver.events(payin.id)).toEqual([]);
});
