import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { PayerBrowser } from '../harness/payer-browser.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const PSE = { method: 'PSE', bank: 'CO_NEQUI', personType: 'INDIVIDUAL' };

let stack: Stack;
let driver: CheckoutDriver;
beforeAll(async () => {
  stack = await startStack({});
  driver = new CheckoutDriver(stack);
});
afterAll(() => stack?.stop());

describe('a company that pays', () => {
  it('enters its name and NIT, whose check digit is verified', async () => {
    const link = await driver.link({ rail: 'PSE' });
    const payer = new PayerBrowser();
    const form = await payer.submit(await payer.open(link.paymentLinkUrl), {
      bank: 'CO_NEQUI',
      personType: 'BUSINESS',
    });
    expect(form.h1).toBe('Datos de la empresa');
    expect(form.text).toContain('Nombre de la empresa');
    expect(form.html).not.toContain('<select');
    const wrong = await payer.submit(form, { ...PAYER_DETAILS, name: 'D1 SAS', idNumber: '900.123.456-7' });
    expect(wrong.fieldError('idNumber')).toBe('Revise el NIT y su dígito de verificación.');
    const at = await payer.submit(wrong, { idNumber: '900.123.456-8' });
    expect(at.h1).toBe('Abriendo Nequi…');
    expect((await driver.latestAttempt(link)).inlineCustomer).toMatchObject({
      name: 'D1 SAS',
      idType: 'CO_NIT',
      idNumber: '900123456-8',
    });
  });
});

describe('an amount that a rail cannot carry', () => {
  it.each([
    [100, 'Pague con Bre-B', 'El valor está por debajo del mínimo de PSE, que es $ 1.500.'],
    [5_000_000_000, 'Elija su banco', 'El valor supera el máximo de Bre-B, que es $ 11.552.000.'],
  ])('of %d cents is not offered on it, and the page says why', async (amountInCents, h1, note) => {
    const link = await driver.link({ amountInCents });
    const payer = new PayerBrowser();
    const page = await payer.open(link.paymentLinkUrl);
    expect(page.h1).toBe(h1);
    expect(page.text).toContain(note);
    const forced = h1 === 'Elija su banco' ? { method: 'BRE_B' } : { ...PAYER_DETAILS, ...PSE };
    expect((await payer.post(`${link.paymentLinkUrl}/begin`, forced)).h1).toBe(h1);
    expect(await driver.attempts(link)).toEqual([]);
  });

  it('on the only rail of the link is told without an invitation to wait', async () => {
    const link = await driver.link({ amountInCents: 100, rail: 'PSE' });
    const page = await new PayerBrowser().open(link.paymentLinkUrl);
    expect(page.h1).toBe('Este valor no se puede pagar en línea');
    expect(page.text).toContain('por debajo del mínimo de PSE');
    expect(page.text).not.toContain('minutos');
  });
});
