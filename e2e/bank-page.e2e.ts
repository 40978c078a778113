import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PayinDriver } from '../server/test/harness/payin-driver.ts';
import { type Stack, startStack } from '../server/test/harness/stack.ts';
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

async function openBankPage(viewport: typeof PHONE): Promise<{ page: Page; id: string }> {
  const { payin } = await driver.pse();
  const { sourceData } = await driver.get(payin.id);
  const page = await browser.newPage({ viewport });
  await page.goto(sourceData.pseUrl ?? '');
  return { page, id: payin.id };
}

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
});
