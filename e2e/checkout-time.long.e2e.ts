import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { screen } from './browser.ts';
import { CheckoutStage, customer, heading } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

/** The tests run one by one, because a time shift would expire the keys of other tests. */
describe('checkout timing', () => {
  it('P7: shows the confirmation shortly after the settlement at the rail', async () => {
    const tries = 20;
    const waits: number[] = [];
    for (let count = 0; count < tries; count += 1) {
      const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
      const page = await stage.payer();
      await page.goto(url);
      await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
      const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
      await stage.waitForRegistration(key);
      const seen = heading(page, 'Pago recibido').then(() => performance.now());
      await stage.driver.simulator.pay({ key });
      const paid = performance.now();
      waits.push((await seen) - paid);
      await page.context().close();
    }
    const sorted = waits.toSorted((a, b) => a - b);
    const p50 = sorted[Math.floor(tries / 2)] ?? 0;
    const p95 = sorted[Math.ceil(tries * 0.95) - 1] ?? 0;
    console.log(`P7: settlement to screen p50 ${p50.toFixed(0)} ms, p95 ${p95.toFixed(0)} ms (target 500)`);
    // CI machines are busy: the printed value is the metric, this limit only detects regressions.
    expect(p95).toBeLessThan(1500);
  });

  it('an update that arrives while the page is being fetched is not lost', async () => {
    const { id, url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.addInitScript(
      `let updates = 0; const Source = EventSource; EventSource = function (url) { const source = new Source(url);
      source.addEventListener('message', () => (document.documentElement.dataset.updates = ++updates)); return source }`,
    );
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.waitForRegistration(key);
    await page.locator('[data-updates="1"]').waitFor();
    const { promise: oldPageFetched, resolve: fetched } = Promise.withResolvers<void>();
    const { promise: updateArrived, resolve: deliver } = Promise.withResolvers<void>();
    await page.route(
      page.url(),
      async (route) => {
        const response = await route.fetch();
        fetched();
        await updateArrived;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    // Simulates a phone that returns from the bank's app.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await oldPageFetched;
    await stage.driver.simulator.pay({ key });
    await page.locator('[data-updates="2"]').waitFor();
    deliver();
    await heading(page, 'Pago recibido');
    expect(await stage.linkStatus(id)).toBe('COMPLETED');
  });

  it('shows the confirmation from the live event, in the language of the browser, without fetching the page', async () => {
    const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer({ locale: 'en-US' });
    await page.goto(url);
    const connected = page.waitForResponse(/\/live/);
    await page.getByRole('button', { name: 'Pay with Bre-B' }).click();
    await connected;
    let fetches = 0;
    await page.route(page.url(), (route) => {
      fetches += 1;
      return route.abort();
    });
    await stage.payKey(page);
    await heading(page, 'Payment received');
    expect(fetches).toBe(0);
  });

  it('shows at once that a tap was received, and not after the payer came back', async () => {
    const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    // The browser stays on the page after a 204: the state between tap and answer.
    await page.route(/\/begin$/, (route) => route.fulfill({ status: 204 }));
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.locator('button[aria-busy=true]:disabled').waitFor();
    const spinner = `getComputedStyle(document.querySelector('[aria-busy]'), '::after').animationName`;
    expect(await page.evaluate(spinner)).toBe('turn');
    await page.evaluate(`dispatchEvent(new PageTransitionEvent('pageshow'))`);
    await page.locator('button:not([aria-busy]):enabled').waitFor();
    await page.goto((await stage.link()).url);
    await page.route(/m=PSE/, (route) => route.fulfill({ status: 204 }));
    await page.getByRole('link', { name: /PSE/ }).click();
    await page.locator('.row[aria-busy=true]').waitFor();
  });

  it('offers a new key when the key expires, and leads back to the shop when the link expires', async () => {
    const { id, url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.waitForRegistration(key);
    await stage.stack.shiftTime(15 * 60_000 + 1000);
    await page.reload();
    await heading(page, 'La llave venció');
    await screen(page, 'key-expired');
    await page.getByRole('link', { name: 'Generar una llave nueva' }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, 'Pague con esta llave');
    expect(await page.locator('[data-key]').first().getAttribute('data-key')).not.toBe(key);
    await stage.stack.shiftTime(46 * 60_000);
    await page.reload();
    await heading(page, 'Este link de pago venció');
    await screen(page, 'link-expired');
    expect(await stage.linkStatus(id)).toBe('EXPIRED');
    await page.getByRole('link', { name: /^Volver a/ }).click();
    await page.waitForURL(stage.shopUrl);
  });

  it('accepts a payment in the last second, and a bank payment after the link has expired', async () => {
    const breb = await stage.link({ rail: 'BRE_B', ...customer() });
    const pse = await stage.link({ rail: 'PSE', ...customer() });
    const page = await stage.payer();
    await page.goto(breb.url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.waitForRegistration(key);
    await stage.stack.shiftTime(15 * 60_000 - 2000);
    await stage.driver.simulator.pay({ key });
    await heading(page, 'Pago recibido');
    // PSE ends long bank sessions, so this payer starts late and then takes a while.
    await stage.stack.shiftTime(40 * 60_000);
    const bank = await stage.payer();
    await bank.goto(pse.url);
    await bank.getByText('Nequi').click();
    await bank.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await bank.getByRole('button', { name: 'Aprobar el pago' }).waitFor({ timeout: PATIENCE_MS });
    await stage.stack.shiftTime(6 * 60_000);
    await bank.getByRole('button', { name: 'Aprobar el pago' }).click();
    await bank.getByRole('link', { name: 'Volver al comercio' }).click();
    await heading(bank, 'Pago recibido');
    expect(await stage.linkStatus(pse.id)).toBe('COMPLETED');
  });
});

describe('all tests above', () => {
  it('cause no script errors and no content security policy violations', () => {
    expect(stage.browserErrors).toEqual([]);
  });
});
