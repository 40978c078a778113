import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { DESKTOP, PHONE, screen } from './browser.ts';
import { CheckoutStage, customer, heading, SHOWN_AMOUNT, typeDetails } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

async function waitForBankPage(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Aprobar el pago' }).waitFor({ timeout: PATIENCE_MS });
}

async function returnToShop(page: Page): Promise<void> {
  await page.getByRole('link', { name: /^Volver a/ }).click();
  await page.waitForURL(stage.shopUrl, { timeout: PATIENCE_MS });
}

describe.each([
  ['on a phone', PHONE],
  ['on a desktop', DESKTOP],
])('payer %s', (_device, viewport) => {
  it('pays an open link with Bre-B, sees the confirmation and returns to the shop', async () => {
    const { id, url } = await stage.link({ description: 'Dos pares de zapatos' });
    const page = await stage.payer({ viewport });
    await page.goto(url);
    await heading(page, '¿Cómo quiere pagar?');
    await page.getByText(SHOWN_AMOUNT).first().waitFor();
    await screen(page, 'method');
    await page.getByRole('link', { name: /Bre-B/ }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, viewport === PHONE ? 'Pague con esta llave' : 'Escanee con la app de su banco');
    await screen(page, 'key');
    await stage.payKey(page);
    await heading(page, 'Pago recibido');
    await screen(page, 'confirmed');
    expect(await stage.linkStatus(id)).toBe('COMPLETED');
    await returnToShop(page);
  });

  it('pays an open link with PSE at the bank and returns to the checkout', async () => {
    const { id, url } = await stage.link();
    const page = await stage.payer({ viewport });
    await page.goto(url);
    await page.getByRole('link', { name: /PSE/ }).click();
    await heading(page, 'Elija su banco');
    await screen(page, 'bank');
    await page.getByLabel('Busque su banco').fill('bogotá');
    await page.getByText('Banco de Bogotá').click();
    await page.getByRole('button', { name: 'Continuar a Banco de Bogotá' }).click();
    await heading(page, 'Sus datos');
    await screen(page, 'details');
    await typeDetails(page);
    await page.getByRole('button', { name: 'Continuar a Banco de Bogotá' }).click();
    await waitForBankPage(page);
    await page.getByRole('button', { name: 'Aprobar el pago' }).click();
    await page.getByRole('link', { name: 'Volver al comercio' }).click();
    await heading(page, 'Pago recibido');
    expect(await stage.linkStatus(id)).toBe('COMPLETED');
    await page.getByRole('link', { name: 'Ver comprobante' }).click();
    await heading(page, 'Comprobante de pago');
    await screen(page, 'receipt');
    expect(await page.content()).not.toMatch(/Luisa|52123456|correo\.example/);
  });
});

describe('payment link', () => {
  it('needs one tap when it is restricted to Bre-B and has a customer', async () => {
    const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await heading(page, 'Pague con Bre-B');
    await screen(page, 'start');
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, 'Pague con esta llave');
    expect(await page.getByRole('button', { name: 'Copiar llave' }).isVisible()).toBe(true);
  });

  it('goes to the bank with one tap when it has a bank and a customer', async () => {
    const { url } = await stage.link({ rail: 'PSE', pse: { bank: 'CO_BANCOLOMBIA' }, ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('button', { name: 'Continuar a Bancolombia' }).click();
    await waitForBankPage(page);
    expect(page.url()).toMatch(/\/bank\//);
  });

  it('shows the pre-filled customer only masked', async () => {
    const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    expect(await page.locator('.who').textContent()).toMatch(/•••/);
    expect(await page.content()).not.toMatch(/@example|3001234567/);
  });

  it('can be retried with the same or another method after a declined payment', async () => {
    const { id, url } = await stage.link({ ...customer('1000000003') });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('link', { name: /Bre-B/ }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, 'Su banco no aprobó el pago');
    await screen(page, 'declined');
    expect(await page.getByText('No se hizo ningún cobro.').isVisible()).toBe(true);
    await page.getByRole('link', { name: 'Usar otro medio' }).click();
    await heading(page, '¿Cómo quiere pagar?');
    await page.getByRole('link', { name: /PSE/ }).click();
    await page.getByText('Nequi').click();
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    // The bank has already declined the payment: its page only leads back.
    await page.waitForURL(/\/bank\//);
    await page.getByRole('link', { name: /Volver al comercio|Salir sin pagar/ }).click();
    await heading(page, 'Su banco no aprobó el pago');
    await page.getByRole('link', { name: 'Intentar de nuevo' }).click();
    await heading(page, 'Elija su banco');
    expect(await stage.attempts(id)).toHaveLength(2);
    expect(await stage.linkStatus(id)).toBe('PENDING');
  });

  it('shows that the payment was canceled at the bank', async () => {
    const { url } = await stage.link({ rail: 'PSE', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByText('Nequi').click();
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await waitForBankPage(page);
    await page.getByRole('button', { name: 'Cancelar' }).click();
    await page.getByRole('link', { name: 'Volver al comercio' }).click();
    expect(await heading(page, 'El pago no se completó')).toBe(true);
    await screen(page, 'canceled');
  });

  it('asks a payer who left the bank page whether they paid, and waits if they say so', async () => {
    const { url } = await stage.link({ rail: 'PSE', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByText('Nequi').click();
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await waitForBankPage(page);
    await page.getByRole('link', { name: 'Salir sin pagar' }).click();
    expect(await heading(page, '¿Alcanzó a autorizar el pago en Nequi?')).toBe(true);
    await screen(page, 'bank-question');
    await page.getByRole('link', { name: 'Sí, ya pagué' }).click();
    expect(await heading(page, 'Su banco está confirmando el pago')).toBe(true);
    await screen(page, 'pending');
  });

  it('closes the key when the payer changes the method', async () => {
    const { id, url } = await stage.link({ ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('link', { name: /Bre-B/ }).click();
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = (await page.locator('[data-key]').first().getAttribute('data-key')) ?? '';
    await stage.waitForRegistration(key);
    await page.getByRole('button', { name: 'Usar otro medio' }).click();
    // PSE is the only other method.
    await heading(page, 'Elija su banco');
    await expect
      .poll(() => stage.driver.simulator.key(key), { timeout: PATIENCE_MS })
      .toMatchObject({ status: 'CLOSED' });
    await expect
      .poll(async () => (await stage.attempts(id)).map(({ status }) => status), { timeout: PATIENCE_MS })
      .toEqual(['CANCELED']);
  });

  it('shows the received amount of an underpayment', async () => {
    const { id, url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.locator('[data-key]').first().waitFor();
    await stage.payKey(page, '30000.00');
    await heading(page, 'Recibimos $ 30.000 de $ 49.800');
    await screen(page, 'underpaid');
    expect(await stage.linkStatus(id)).toBe('PENDING');
  });

  it('shows another visitor that it is already paid, without the data of the payer', async () => {
    const { url } = await stage.link({ rail: 'BRE_B', ...customer('1000000001') });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, 'Pago recibido');
    const stranger = await stage.payer();
    await stranger.goto(url);
    expect(await heading(stranger, 'Este pago ya fue realizado')).toBe(true);
    await screen(stranger, 'already-paid');
    await returnToShop(stranger);
  });

  it('shows an error page for an unknown link', async () => {
    const { url } = await stage.link();
    const page = await stage.payer();
    await page.goto(`${url.slice(0, -1)}${url.endsWith('A') ? 'B' : 'A'}`);
    expect(await heading(page, 'No encontramos este link de pago')).toBe(true);
    await screen(page, 'unknown');
  });

  it('keeps its state after a reload in the same browser', async () => {
    const { url } = await stage.link({ rail: 'BRE_B', ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const key = await page.locator('[data-key]').first().getAttribute('data-key');
    await page.goto(url);
    await page.reload();
    expect(await page.locator('[data-key]').first().getAttribute('data-key')).toBe(key);
  });
});

describe('payin without a link', () => {
  it('shows its key and its final status', async () => {
    const { payin } = await stage.driver.breb({ callbackUrl: stage.shopUrl });
    const page = await stage.payer();
    await page.goto((payin.sourceData as { checkoutUrl: string }).checkoutUrl);
    await heading(page, 'Pague con esta llave');
    await stage.payKey(page);
    expect(await heading(page, 'Pago recibido')).toBe(true);
    await returnToShop(page);
  });

  it('on PSE without a customer requests the details, keeps them after an error, and goes to the bank', async () => {
    const { body } = await stage.stack.api.post('/payins', {
      amountInCents: 4_980_000,
      currency: 'COP',
      rail: 'PSE',
      reference: 'e2e-pse-without-customer',
      pse: { bank: 'CO_NEQUI', personType: 'INDIVIDUAL' },
      callbackUrl: stage.shopUrl,
    });
    const page = await stage.payer();
    await page.goto((body['sourceData'] as { pseUrl: string }).pseUrl);
    await heading(page, 'Sus datos');
    await typeDetails(page);
    await page.locator('#email').fill('luisa');
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await page.locator('.wrong').waitFor();
    await screen(page, 'wrong');
    expect(await page.locator('#name').inputValue()).toBe('Luisa Fernanda Pardo');
    expect(await page.locator('#authorize').isChecked()).toBe(true);
    await page.locator('#email').fill('luisa@correo.example');
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await waitForBankPage(page);
    await page.getByRole('button', { name: 'Aprobar el pago' }).click();
    await page.getByRole('link', { name: 'Volver al comercio' }).click();
    await heading(page, 'Pago recibido');
  });
});

describe('all flows above', () => {
  it('cause no script errors and no content security policy violations', () => {
    expect(stage.browserErrors).toEqual([]);
  });
});
