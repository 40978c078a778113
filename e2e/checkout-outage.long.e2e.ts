import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { PRODUCTION_DEADLINES } from '../scripts/testing/patient-settings.ts';
import { PostgresProxy } from '../server/test/harness/postgres-proxy.ts';
import { until } from '../server/test/harness/until.ts';
import { CheckoutStage, customer, heading } from './checkout-stage.ts';

let proxy: PostgresProxy;
let stage: CheckoutStage;
beforeAll(async () => {
  proxy = await PostgresProxy.start(inject('postgres').ownerUrl);
  stage = await CheckoutStage.open({ ...PRODUCTION_DEADLINES }, (direct) => proxy.through(direct));
});
afterEach(() => proxy.heal());
afterAll(async () => {
  await stage?.close();
  await proxy?.close();
});

const LOST = 'Sin conexión con nosotros; seguimos intentando.';
const OFFLINE = 'Su dispositivo no tiene internet; esta página se actualizará cuando vuelva.';
/** A refresh waits for the database before it fails, and is repeated after three seconds. */
const SLOW = { timeout: PATIENCE_MS };

/** Shows a registered key. Every text that the page shows from then on is recorded. */
async function openKey(): Promise<{ page: Page; key: string; shownTexts: () => Promise<string> }> {
  await until(
    'the service has recovered from the test before',
    async () => (await stage.stack.api.get('/payins')).status === 200,
  );
  const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
  const page = await stage.payer();
  await page.goto(url);
  await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
  const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
  await stage.waitForRegistration(key);
  await page.evaluate(`window.shown = document.body.innerText;
    new MutationObserver(() => (window.shown += document.body.innerText))
      .observe(document.body, { subtree: true, childList: true, characterData: true })`);
  return { page, key, shownTexts: async () => String(await page.evaluate('window.shown')) };
}

/** Simulates a phone that returns from the bank's app. */
function returnToPage(page: Page): Promise<unknown> {
  return page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
}

describe('G1: a payer who pays during a database outage', () => {
  it('keeps the key screen, never reads that no money moved, and sees the payment without a reload', async () => {
    const { page, key, shownTexts } = await openKey();
    proxy.goSilent();
    await stage.driver.simulator.pay({ key });
    await returnToPage(page);
    await page.locator('#connection', { hasText: LOST }).waitFor(SLOW);
    expect(await page.locator('[data-key]').first().getAttribute('data-key')).toBe(key);
    proxy.heal();
    await page.getByRole('heading', { name: 'Pago recibido' }).waitFor(SLOW);
    expect(await page.locator('#connection').innerText()).toBe('');
    expect(await shownTexts()).not.toMatch(/No se movió dinero|No se hizo ningún cobro|Algo falló/);
  });

  it('who opens the page then reads not to pay again, and the page recovers without a tap', async () => {
    const { page, key } = await openKey();
    proxy.rejectConnections();
    await stage.driver.simulator.pay({ key });
    await page.reload();
    await heading(page, 'No pudimos consultar su pago');
    const text = await page.locator('main').innerText();
    expect(text).toContain('Si ya pagó, no vuelva a pagar: esta página se actualizará sola.');
    expect(text).toMatch(/mencione este código: req_/);
    expect(text).not.toMatch(/No se movió dinero|No se hizo ningún cobro/);
    expect(await page.getByRole('link', { name: 'Volver a intentar' }).getAttribute('href')).toBe(
      new URL(page.url()).pathname + new URL(page.url()).search,
    );
    expect(await page.locator('noscript').textContent()).toContain('http-equiv="refresh"');
    proxy.heal();
    await page.getByRole('heading', { name: 'Pago recibido' }).waitFor(SLOW);
  });
});

describe('M8: a payer without internet', () => {
  it('reads so on the key screen, until the connection is back', async () => {
    const { page, key } = await openKey();
    await page.context().setOffline(true);
    await page.locator('#connection', { hasText: OFFLINE }).waitFor(SLOW);
    await page.locator('#announcer', { hasText: OFFLINE }).waitFor({ state: 'attached' });
    expect(await page.locator('[data-key]').first().isVisible()).toBe(true);
    await page.context().setOffline(false);
    await until('the notice is gone', async () => (await page.locator('#connection').innerText()) === '');
    await stage.driver.simulator.pay({ key });
    await page.getByRole('heading', { name: 'Pago recibido' }).waitFor(SLOW);
  });
});
