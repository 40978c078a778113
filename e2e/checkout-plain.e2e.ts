import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutStage, customer, heading, typeDetails } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

describe('without JavaScript', () => {
  it('a payer reaches the key, and the page refreshes automatically', async () => {
    const { url } = await stage.link();
    const page = await stage.payer({ javaScriptEnabled: false });
    await page.goto(url);
    await page.getByRole('link', { name: /Bre-B/ }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, 'Pague con esta llave');
    expect(await page.locator('noscript meta[http-equiv=refresh]').count()).toBe(1);
    await stage.payKey(page);
    await heading(page, 'Pago recibido');
  });

  it('a payer reaches the bank', async () => {
    const { url } = await stage.link();
    const page = await stage.payer({ javaScriptEnabled: false });
    await page.goto(url);
    await page.getByRole('link', { name: /PSE/ }).click();
    await page.getByText('Nequi').click();
    await page.getByRole('button', { name: 'Continuar' }).click();
    await typeDetails(page);
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await page.getByRole('link', { name: 'Ir a Nequi' }).click();
    await page.getByRole('button', { name: 'Aprobar el pago' }).waitFor();
    expect(page.url()).toMatch(/\/bank\//);
  });

  it('the form keeps the typed values when the details are invalid', async () => {
    const { url } = await stage.link();
    const page = await stage.payer({ javaScriptEnabled: false });
    await page.goto(`${url}?m=PSE&bank=CO_NEQUI&personType=INDIVIDUAL`);
    await typeDetails(page, '1');
    await page.getByRole('button', { name: 'Continuar' }).click();
    await page.locator('.wrong').waitFor();
    expect(await page.locator('#email').inputValue()).toBe('luisa@correo.example');
  });

  it('a payer can change the method', async () => {
    const { url } = await stage.link({ ...customer() });
    const page = await stage.payer({ javaScriptEnabled: false });
    await page.goto(url);
    await page.getByRole('link', { name: /Bre-B/ }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.getByRole('button', { name: 'Usar otro medio' }).click();
    expect(await heading(page, 'Elija su banco')).toBe(true);
  });
});
