import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screen } from './browser.ts';
import { CheckoutStage, customer, heading } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

/** One key after the other, so that shifts of time do not end another test's. */
describe('time on screen', () => {
  it('P7: from the settlement at the rail to the words on the screen', async () => {
    const tries = 20;
    const waits: number[] = [];
    for (let count = 0; count < tries; count += 1) {
      const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
      const page = await stage.payer();
      await page.goto(url);
      await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
      const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
      await stage.registered(key);
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
    // Machines of continuous integration are busy: the printed figure is the measure, this bound the alarm.
    expect(p95).toBeLessThan(1500);
  }, 120_000);

  it('news that comes while the page is being fetched is not lost', async () => {
    const { id, url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.addInitScript(
      `let told = 0; const Source = EventSource; EventSource = function (url) { const source = new Source(url);
      source.addEventListener('message', () => (document.documentElement.dataset.told = ++told)); return source }`,
    );
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.registered(key);
    await page.locator('[data-told="1"]').waitFor();
    const { promise: older, resolve: fetched } = Promise.withResolvers<void>();
    const { promise: newsCame, resolve: deliver } = Promise.withResolvers<void>();
    await page.route(
      page.url(),
      async (route) => {
        const response = await route.fetch();
        fetched();
        await newsCame;
        await route.fulfill({ response });
      },
      { times: 1 },
    );
    // As a phone does that comes back from the bank's app.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await older;
    await stage.driver.simulator.pay({ key });
    await page.locator('[data-told="2"]').waitFor();
    deliver();
    await heading(page, 'Pago recibido');
    expect(await stage.linkStatus(id)).toBe('COMPLETED');
  });

  it('a key that expires offers a new one, and a link that expires sends the payer back', async () => {
    const { id, url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.registered(key);
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
    await heading(page, 'Este enlace de pago venció');
    await screen(page, 'link-expired');
    expect(await stage.linkStatus(id)).toBe('EXPIRED');
    await page.waitForURL(stage.shopUrl, { timeout: 15_000 });
  });

  it('a payment at the last second counts, and one at the bank after the link’s time as well', async () => {
    const breb = await stage.link({ rail: 'BRE_B', ...customer() });
    const pse = await stage.link({ rail: 'PSE', ...customer() });
    const page = await stage.payer();
    await page.goto(breb.url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.registered(key);
    await stage.stack.shiftTime(15 * 60_000 - 2000);
    await stage.driver.simulator.pay({ key });
    await heading(page, 'Pago recibido');
    // PSE lets go of who stays at the bank for long: this one came late, and is slow.
    await stage.stack.shiftTime(40 * 60_000);
    const bank = await stage.payer();
    await bank.goto(pse.url);
    await bank.getByText('Nequi').click();
    await bank.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await bank.getByRole('button', { name: 'Aprobar el pago' }).waitFor({ timeout: 15_000 });
    await stage.stack.shiftTime(6 * 60_000);
    await bank.getByRole('button', { name: 'Aprobar el pago' }).click();
    await bank.getByRole('link', { name: 'Volver al comercio' }).click();
    await heading(bank, 'Pago recibido');
    expect(await stage.linkStatus(pse.id)).toBe('COMPLETED');
  });
});

describe('all of that', () => {
  it('made no browser complain: no script failed, and the policy refused nothing', () => {
    expect(stage.complaints).toEqual([]);
  });
});
