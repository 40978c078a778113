import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutStage, customer, heading } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

describe('two links in one browser', () => {
  it('S2: each page shows the result of its own payment', async () => {
    const [first, second] = [
      await stage.link({ rail: 'BRE_B', ...customer() }),
      await stage.link({ rail: 'BRE_B', ...customer() }),
    ];
    const page = await stage.payer();
    await page.goto(first.url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.locator('[data-key]').first().waitFor({ state: 'attached' });
    const other = await page.context().newPage();
    await other.goto(second.url);
    await other.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await other.locator('[data-key]').first().waitFor({ state: 'attached' });
    await stage.payKey(page);
    expect(await heading(page, 'Pago recibido')).toBe(true);
    await stage.payKey(other);
    expect(await heading(other, 'Pago recibido')).toBe(true);
  });
});
