import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { PayinDriver } from '../server/test/harness/payin-driver.ts';
import { type Stack, startStack } from '../server/test/harness/stack.ts';
import { until } from '../server/test/harness/until.ts';
import { axe } from './axe.ts';
import { DESKTOP, openBrowser, PHONE, screen } from './browser.ts';

let stack: Stack;
let driver: PayinDriver;
let browser: Browser;
beforeAll(async () => {
  stack = await startStack({ apis: 1, workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new PayinDriver(stack);
  browser = await openBrowser();
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

async function openBankPage(viewport: typeof PHONE): Promise<{ page: Page; id: string; reference: string }> {
  const { payin, reference } = await driver.pse();
  const { sourceData } = await driver.get(payin.id);
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(sourceData.pseUrl ?? '');
  return { page, id: payin.id, reference };
}

/** The payer finds the key in the bank app, typed as the checkout shows it. */
async function openPayPage(viewport: typeof PHONE): Promise<{ page: Page; id: string; key: string }> {
  const { payin, key } = await driver.breb();
  const page = await browser.newPage({ viewport });
  page.setDefaultTimeout(PATIENCE_MS);
  await page.goto(`${stack.simulatorUrl}/pagar`);
  await page.getByLabel('Llave').fill(key.replace(/(.{4})/g, '$1 '));
  await page.getByRole('button', { name: 'Buscar la llave' }).click();
  await page.getByText('Registrada, se puede pagar').waitFor();
  return { page, id: payin.id, key };
}

const anomalyAmounts = async (id: string) => (await driver.anomalies(id)).map(({ cents }) => cents);

describe.each([
  ['on a phone', PHONE],
  ['on a desktop', DESKTOP],
])('simulated bank page %s', (_device, viewport) => {
  it.each([
    ['Aprobar el pago', 'CONFIRMED', null],
    ['Rechazar', 'DECLINED', 'INSUFFICIENT_FUNDS'],
    ['Cancelar', 'CANCELED', 'PAYER_CANCELED'],
  ])('%s: the payin becomes %s', async (button, status, errorCode) => {
    const { page, id } = await openBankPage(viewport);
    expect(await page.getByText('COP $ 49.800,00').isVisible()).toBe(true);
    await screen(page, 'bank-open');
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('link', { name: 'Volver al comercio' }).waitFor();
    await screen(page, `bank-${status.toLowerCase()}`);
    expect(await driver.waitForStatus(id, status)).toMatchObject({ errorCode });
    // No horizontal scrolling.
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
    await page.close();
  });

  it('declines the payin with the selected reason', async () => {
    const { page, id } = await openBankPage(viewport);
    await page.getByLabel('Motivo del rechazo').selectOption('8');
    await page.getByRole('button', { name: 'Rechazar' }).click();
    expect(await driver.waitForStatus(id, 'DECLINED')).toMatchObject({ errorCode: 'LIMIT_EXCEEDED' });
    await page.close();
  });

  it('leaves the payin in PROCESSING when the payer exits without a decision', async () => {
    const { page, id } = await openBankPage(viewport);
    await page.getByRole('link', { name: 'Salir sin pagar' }).click();
    await page.waitForURL(/\/checkout\/p\//);
    expect((await driver.get(id)).status).toBe('PROCESSING');
    await page.close();
  });

  it('cancels the payin of a payer who leaves for good, and a late approval becomes an anomaly', async () => {
    const { page, id } = await openBankPage(viewport);
    await page.getByRole('button', { name: 'Irse para siempre' }).click();
    expect(await driver.waitForStatus(id, 'CANCELED')).toMatchObject({ errorCode: 'PAYER_ABANDONED' });
    await page.getByRole('button', { name: 'Autorizar tarde' }).click();
    await page.getByRole('heading', { name: 'Pago aprobado' }).waitFor();
    await until('the late money is an anomaly', async () => (await anomalyAmounts(id)).length > 0);
    expect(await anomalyAmounts(id)).toEqual(['4980000']);
    await page.close();
  });

  it('confirms the payin of a payer who left, once the bank approves', async () => {
    const { page, id, reference } = await openBankPage(viewport);
    await page.getByRole('button', { name: 'el banco autoriza un minuto después' }).click();
    await page.getByText('El pagador se fue.').waitFor();
    expect((await driver.get(id)).status).toBe('PROCESSING');
    await driver.simulator.leaveTransaction({ reference, approvesInMs: 0 });
    await driver.waitForStatus(id, 'CONFIRMED');
    await page.close();
  });
});

describe.each([
  ['on a phone', PHONE],
  ['on a desktop', DESKTOP],
])('simulated bank app %s', (_device, viewport) => {
  it('fills in no amount, and sends what the payer types', async () => {
    const { page, id } = await openPayPage(viewport);
    const amount = page.getByLabel('Valor en pesos');
    expect(await amount.inputValue()).toBe('');
    await page.getByRole('button', { name: 'Pagar', exact: true }).click();
    expect(await amount.evaluate((input) => input.matches(':invalid:focus'))).toBe(true);
    await amount.fill('30000');
    await page.getByRole('button', { name: 'Pagar', exact: true }).click();
    await page.getByRole('heading', { name: 'Pago hecho' }).waitFor();
    await screen(page, 'simulator-underpaid');
    expect(await driver.waitForStatus(id, 'DECLINED')).toMatchObject({ errorCode: 'UNDERPAID' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
    await page.close();
  });

  it.each([
    ['Paga el doble', 'Pago hecho'],
    ['Paga dos veces', 'Dos pagos hechos'],
  ])('%s: the payin is confirmed, and the rest is an anomaly', async (button, done) => {
    const { page, id } = await openPayPage(viewport);
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('heading', { name: done }).waitFor();
    await driver.waitForStatus(id, 'CONFIRMED');
    await until('the rest is an anomaly', async () => (await anomalyAmounts(id)).length > 0);
    expect(await anomalyAmounts(id)).toEqual(['4980000']);
    await page.close();
  });

  it('pays late: the money arrives after the payer gave up and the key was closed', async () => {
    const { page, id } = await openPayPage(viewport);
    await page.getByRole('button', { name: 'Paga tarde' }).click();
    await page.getByRole('heading', { name: 'El pago llegará tarde' }).waitFor();
    await page.getByRole('button', { name: 'Desiste del pago' }).click();
    await driver.waitForStatus(id, 'CANCELED');
    await until('the late money is an anomaly', async () => (await anomalyAmounts(id)).length > 0);
    expect(await anomalyAmounts(id)).toEqual(['4980000']);
    await page.close();
  });
});

describe.each(['light', 'dark'] as const)('every page of the simulator in %s mode', (colorScheme) => {
  it.each([
    ['es', PHONE],
    ['en', DESKTOP],
  ] as const)('has no axe violations in language %s', async (language, viewport) => {
    const { key } = await driver.breb();
    const { payin } = await driver.pse();
    const bank = (await driver.get(payin.id)).sourceData.pseUrl ?? '';
    const page = await browser.newPage({ viewport, colorScheme });
    page.setDefaultTimeout(PATIENCE_MS);
    const addresses = {
      home: `${stack.simulatorUrl}/?lang=${language}`,
      pay: `${stack.simulatorUrl}/pagar?key=${encodeURIComponent(key)}`,
      bank,
    };
    for (const [name, address] of Object.entries(addresses)) {
      await page.goto(address);
      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      const { violations } = await axe(page).analyze();
      expect(violations.map(({ id }) => `${name}: ${id}`)).toEqual([]);
      await screen(page, `simulator-${name}-${language}-${colorScheme}`);
    }
    await page.close();
  });
});
