import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { screen } from './browser.ts';
import { CheckoutStage, customer, heading } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());
afterEach(() => stage.driver.simulator.clearFaults());

/** Opens a link that offers both rails and starts a Bre-B attempt. */
async function openKey(url: string): Promise<Page> {
  const page = await stage.payer();
  await page.goto(`${url}?m=BRE_B`);
  await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
  await page.locator('[data-key]').first().waitFor({ state: 'attached' });
  return page;
}

async function openBank(url: string): Promise<Page> {
  const page = await stage.payer();
  await page.goto(`${url}?m=PSE`);
  await page.getByText('Nequi').first().click();
  await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
  return page;
}

describe('a payer', () => {
  it('who pays in two parts completes the link, and the receipt certifies the whole amount (G3)', async () => {
    const { id, url } = await stage.link({ ...customer() });
    const page = await openKey(url);
    await stage.payKey(page, '30000.00');
    await heading(page, 'Recibimos $\u00a030.000 de $\u00a049.800');
    expect(await page.locator('main').textContent()).toContain('Faltan $\u00a019.800');
    await page.getByRole('link', { name: /^Pagar/ }).click();
    await page.getByRole('link', { name: /Bre-B/ }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.getByText('$\u00a019.800').first().waitFor();
    await stage.payKey(page);
    await heading(page, 'Pago recibido');
    expect(await stage.linkStatus(id)).toBe('COMPLETED');
    const receipt = await page.locator('a[href*="/r/"]').first().getAttribute('href');
    await page.goto(new URL(receipt ?? '', page.url()).href);
    expect(await page.locator('body').textContent()).toContain('$\u00a049.800');
  });

  it('who pays too much or twice is told of the excess', async () => {
    const { url } = await stage.link({ ...customer() });
    const page = await openKey(url);
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.payKey(page, '50000.00');
    await heading(page, 'Pago recibido');
    await page.getByText('Recibimos $\u00a0200 de más.').waitFor();
    await stage.driver.simulator.pay({ key, amount: '49800.00', anyway: true });
    await expect
      .poll(async () => (await page.reload(), page.locator('main').textContent()), { timeout: PATIENCE_MS })
      .toContain('Recibimos otro pago de $\u00a049.800.');
    await screen(page, 'paid-twice');
  });

  it('whose payment arrives after the key expired sees it without a reload, and is not asked to pay again (G2)', async () => {
    const { url } = await stage.link({ ...customer() });
    const page = await openKey(url);
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.waitForRegistration(key);
    await stage.closeAttempt(page);
    await stage.driver.simulator.pay({ key, anyway: true });
    await heading(page, 'Su pago de $\u00a049.800 llegó tarde');
    expect(await page.locator('main').textContent()).not.toContain('No se hizo ningún cobro');
    await screen(page, 'late');
  });

  it('who tapped PSE while it is down can pay with Bre-B after ten seconds (G4)', async () => {
    await stage.driver.simulator.addFault({ rail: 'PSE', operation: 'create', fault: 'down' });
    const { id, url } = await stage.link({ ...customer() });
    const page = await openBank(url);
    await heading(page, 'Abriendo la página de su banco…');
    const other = page.getByRole('link', { name: 'Pagar con Bre-B' });
    expect(await other.isVisible()).toBe(false);
    await other.waitFor({ timeout: PATIENCE_MS });
    await screen(page, 'bank-slow');
    await other.click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.locator('[data-key]').first().waitFor({ state: 'attached' });
    await stage.payKey(page);
    await heading(page, 'Pago recibido');
    expect(await stage.linkStatus(id)).toBe('COMPLETED');
  });

  it('who left the bank can pay with Bre-B at once (G5)', async () => {
    const { id, url } = await stage.link({ ...customer() });
    const page = await openBank(url);
    await page.getByRole('link', { name: 'Salir sin pagar' }).click();
    await heading(page, '¿Alcanzó a autorizar el pago en Nequi?');
    await page.getByRole('link', { name: 'No, pagar con Bre-B' }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.locator('[data-key]').first().waitFor({ state: 'attached' });
    await stage.payKey(page);
    await heading(page, 'Pago recibido');
    expect(await stage.linkStatus(id)).toBe('COMPLETED');
  });

  it('who uses the back button of the browser at the bank is asked whether they paid', async () => {
    const { url } = await stage.link({ ...customer() });
    const page = await openBank(url);
    await page.waitForURL(/\/bank\//);
    await page.goBack();
    expect(await heading(page, '¿Alcanzó a autorizar el pago en Nequi?')).toBe(true);
  });
});
