import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutStage, customer, heading } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

/** A paid link in a browser whose clock only moves when the test says so. */
async function openPaid(): Promise<Page> {
  const { url } = await stage.link({ rail: 'BRE_B', ...customer('1000000001') });
  const page = await stage.payer();
  await page.goto(url);
  await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
  await heading(page, 'Pago recibido');
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(3_600_000);
  await page.goto(url);
  await heading(page, 'Pago recibido');
  return page;
}

const countdown = (page: Page) => page.locator('.leaving span').innerText();

describe('S1: the confirmation', () => {
  it('leaves for the shop only after 30 seconds without input, and stays when the payer comes back', async () => {
    const page = await openPaid();
    const confirmation = page.url();
    await page.clock.runFor(20_000);
    expect(await countdown(page)).toBe('Volverá a Tienda Aurora en 10 s.');
    await page.keyboard.press('Shift');
    expect(await countdown(page)).toBe('Volverá a Tienda Aurora en 30 s.');
    await page.clock.runFor(29_000);
    expect(page.url()).toBe(confirmation);
    await page.clock.runFor(1000);
    await page.waitForURL(stage.shopUrl);
    await page.goBack();
    await heading(page, 'Pago recibido');
    await page.clock.runFor(60_000);
    expect(page.url()).toBe(confirmation);
    expect(await page.locator('.leaving').isVisible()).toBe(false);
  });

  it('stays for good after "Quedarme aquí"', async () => {
    const page = await openPaid();
    const confirmation = page.url();
    await page.getByRole('button', { name: 'Quedarme aquí' }).click();
    await page.locator('.leaving').waitFor({ state: 'hidden' });
    await page.reload();
    await heading(page, 'Pago recibido');
    await page.clock.runFor(60_000);
    expect(page.url()).toBe(confirmation);
    await page.getByRole('link', { name: 'Ver comprobante' }).click();
    await heading(page, 'Comprobante de pago');
  });
});
