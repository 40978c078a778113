import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../harness/api-client.ts';
import { PayinDriver, type PayinView } from '../harness/payin-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: PayinDriver;
beforeAll(async () => {
  stack = await startStack({
    workers: 2,
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_SETTLEMENT_DELAY_MINUTES: '600' },
  });
  driver = new PayinDriver(stack);
});
afterAll(async () => {
  await stack?.stop();
});

interface EventAnswer {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

async function listPayinEvents(payinId: string): Promise<EventAnswer[]> {
  const { body } = await stack.api.get('/events?pageSize=100');
  const events = (body as { data: EventAnswer[] }).data;
  return events.filter(({ data }) => data['id'] === payinId);
}

/** The payer page of a payin, as plain text with single spaces. */
async function readPayerPage(payin: PayinView): Promise<string> {
  const { checkoutUrl = '' } = payin.sourceData;
  const response = await fetch(checkoutUrl, { headers: { 'accept-language': 'es' } });
  return (await response.text()).replaceAll(/<[^>]+>/g, ' ').replaceAll(/[\s\u00a0]+/g, ' ');
}

describe('a direct payin under the amount policy EXACT', () => {
  it('ends DECLINED with UNDERPAID when COP 1 arrives, and the money is in suspense', async () => {
    const { payin, key } = await driver.breb();
    const [execution] = await driver.simulator.pay({ key, amount: '1.00' });
    expect(await driver.waitForStatus(payin.id, 'DECLINED')).toMatchObject({
      errorCode: 'UNDERPAID',
      amountInCents: payin.amountInCents,
      confirmedAmountInCents: 100,
      settlementStatus: null,
    });
    expect(await driver.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'suspense', cents: '100' },
    ]);
    expect(await driver.anomalies(payin.id)).toEqual([
      { kind: 'underpaid', cents: '100', execution_id: execution?.executionId },
    ]);
    expect(await listPayinEvents(payin.id)).toMatchObject([
      { event: 'payin.declined', data: { errorCode: 'UNDERPAID', confirmedAmountInCents: 100 } },
    ]);
    const [history] = await driver.query<{ cause: string }>(
      `select cause from caudal.payin_history where payin_id = $1 and to_status = 'DECLINED'`,
      [payin.id],
    );
    expect(history?.cause).toBe('underpaid');
  });

  it('shows the payer of an underpaid payin how much arrived and what happens with it', async () => {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key, amount: '1.00' });
    await driver.waitForStatus(payin.id, 'DECLINED');
    const page = await readPayerPage(payin);
    expect(page).toContain('Recibimos $ 1 de $ 49.800');
    expect(page).toContain('Ese dinero está guardado. Tienda Aurora decide');
    expect(page).toContain(payin.reference);
    expect(page).not.toMatch(/Pago recibido|No se hizo ningún cobro/);
  });

  it('shows the payer of an overpaid payin the excess, on the page and on the receipt', async () => {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key, amount: '50000.00' });
    await driver.waitForStatus(payin.id, 'CONFIRMED');
    expect(await readPayerPage(payin)).toMatch(
      /Pago recibido .*Recibimos \$ 200 de más\. Ese dinero está guardado/,
    );
    const html = await (await fetch(payin.sourceData.checkoutUrl ?? '')).text();
    const [, receipt = ''] = /href="([^"]*\/r\/[^"]*)"/.exec(html) ?? [];
    const url = new URL(receipt, payin.sourceData.checkoutUrl).href;
    expect(await readPayerPage({ ...payin, sourceData: { checkoutUrl: url } })).toMatch(
      /Valor \$ 49\.800 COP .*Recibido de más \$ 200 COP/,
    );
  });

  it('closes the key of an underpaid payin, so that it cannot be paid again', async () => {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key, amount: '1.00' });
    await driver.waitForStatus(payin.id, 'DECLINED');
    await until('the key is closed', async () => (await driver.simulator.key(key))?.status === 'CLOSED');
    expect(await driver.simulator.pay({ key })).toMatchObject([{ code: '0004' }]);
  });

  it('ends CONFIRMED with the requested amount when more arrives, and the excess is in suspense', async () => {
    const { payin, key } = await driver.breb();
    await driver.simulator.pay({ key, amount: (payin.amountInCents / 100 + 5).toFixed(2) });
    expect(await driver.waitForStatus(payin.id, 'CONFIRMED')).toMatchObject({
      errorCode: null,
      confirmedAmountInCents: payin.amountInCents,
      settlementStatus: 'PENDING_SETTLEMENT',
    });
    expect(await driver.transfers(payin.id)).toEqual([
      { debit: 'clearing_bre_b', credit: 'pending', cents: String(payin.amountInCents) },
      { debit: 'clearing_bre_b', credit: 'suspense', cents: '500' },
    ]);
    expect(await driver.anomalies(payin.id)).toMatchObject([{ kind: 'overpaid', cents: '500' }]);
    expect(await listPayinEvents(payin.id)).toMatchObject([
      { event: 'payin.confirmed', data: { confirmedAmountInCents: payin.amountInCents } },
    ]);
  });

  it('keeps the ledger consistent: ledger verify finds nothing', async () => {
    await driver.waitUntilIdle();
    expect(JSON.parse(await stack.command('ledger', 'verify', '--json'))).toMatchObject({ broken: [] });
  });
});

it('confirms a direct payin with the amount that arrived under the amount policy ANY', async () => {
  const { apiKey } = await stack.newOrganization('--amount-policy', 'ANY');
  const api = new ApiClient(stack.apis[0]?.url ?? '', { 'x-api-key': apiKey });
  const donations = new PayinDriver({ ...stack, api });
  const { payin, key } = await donations.breb();
  await donations.simulator.pay({ key, amount: '123.45' });
  expect(await donations.waitForStatus(payin.id, 'CONFIRMED')).toMatchObject({
    confirmedAmountInCents: 12_345,
  });
  expect(await donations.transfers(payin.id)).toEqual([
    { debit: 'clearing_bre_b', credit: 'pending', cents: '12345' },
  ]);
  expect(await donations.anomalies(payin.id)).toEqual([]);
});
