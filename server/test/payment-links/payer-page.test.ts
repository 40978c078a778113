import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { CheckoutDriver, PAYER_DETAILS } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { PayerBrowser, type PayerPage } from '../harness/payer-browser.ts';
import { CUSTOMER, psePayin, without } from '../harness/payin-requests.ts';
import { createPayin, readPayin } from '../harness/payin-responses.ts';
import { readPseReference } from '../harness/pse-reference.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const HOSTILE = `O'Neil "><script>alert(1)</script> & <b>`;
const TYPED = [
  PAYER_DETAILS.name,
  'Luisa',
  'Pardo',
  '52.123.456',
  '52123456',
  '3105550199',
  PAYER_DETAILS.email,
];

let stack: Stack;
let driver: CheckoutDriver;
let caudal: InProcess;
beforeAll(async () => {
  stack = await startStack({ workers: 1, settings: { CAUDAL_WORKER_POLL_MS: '20' } });
  driver = new CheckoutDriver(stack);
  caudal = await composeInProcess(stack.settings);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

function findShown(page: PayerPage, values: readonly string[]): string[] {
  return values.filter((value) => page.html.includes(value));
}

/** The decrypted authorization of a payer; null when there is none. */
async function readAuthorization(payinId: string) {
  const [row] = await stack.database.query<{ text_id: string; evidence: Buffer; at: Date }>(
    'select text_id, evidence, at from caudal.payer_authorizations where payin_id = $1',
    [payinId],
  );
  if (!row) return null;
  const { organization, secrets } = await caudal.authenticate(stack.organization.apiKey);
  const identity = `payer_authorizations.evidence/${organization.id}/${payinId}`;
  const evidence = secrets.dataKey.decrypt(row.evidence, identity).toString('utf8');
  return { textId: row.text_id, at: row.at, encrypted: row.evidence, ...(JSON.parse(evidence) as object) };
}

describe('payer details', () => {
  it('that are invalid are reported beside their fields, and the input is kept', async () => {
    const link = await driver.link();
    const payer = new PayerBrowser();
    const bank = await payer.click(await payer.open(link.paymentLinkUrl), 'PSE');
    const details = await payer.submit(bank, { bank: 'CO_NEQUI', personType: 'INDIVIDUAL' });
    expect(details.h1).toBe('Sus datos');
    const typed = { name: HOSTILE, idType: 'CO_CE', idNumber: '!!', phone: 'abc', email: 'a@' };
    const wrong = await payer.submit(details, typed);
    expect(wrong.status).toBe(422);
    expect(
      ['name', 'idType', 'idNumber', 'phone', 'email', 'authorize'].map((name) => wrong.fieldError(name)),
    ).toEqual([
      null,
      null,
      'Revise el número de documento.',
      'Escriba un celular, por ejemplo 300 123 4567.',
      'Escriba un correo, por ejemplo ana@correo.com.',
      'Necesitamos su autorización para usar estos datos.',
    ]);
    expect(wrong.html).toContain('role="alert"');
    expect(wrong.form.values).toEqual({
      ...typed,
      method: 'PSE',
      bank: 'CO_NEQUI',
      personType: 'INDIVIDUAL',
    });
    expect(wrong.html).toContain('<title>Error: Sus datos');
    expect(wrong.html).not.toContain('<script>alert');
    expect(wrong.html).not.toContain('<b>');
    expect(await driver.attempts(link)).toEqual([]);

    const good = { idType: 'CO_CC', idNumber: '1.020.304.050', phone: '(300) 123-4567', email: 'o@n.co' };
    const at = await payer.submit(wrong, { ...good, authorize: 'yes' });
    expect(at.h1).toBe('Abriendo Nequi…');
    expect((await driver.latestAttempt(link)).inlineCustomer).toEqual({
      name: HOSTILE,
      idType: 'CO_CC',
      idNumber: '1020304050',
      phone: '+573001234567',
      email: 'o@n.co',
    });
  });

  it('that were invalid can be read in the other language without losing the way', async () => {
    const link = await driver.link();
    const payer = new PayerBrowser();
    const detailsUrl = `${link.paymentLinkUrl}?m=PSE&bank=CO_NEQUI&personType=INDIVIDUAL`;
    const wrong = await payer.submit(await payer.open(detailsUrl), { name: '' });
    expect([wrong.status, wrong.language]).toEqual([422, 'es-CO']);
    const other = await payer.post(`${link.paymentLinkUrl}/language`, {
      ...wrong.form.values,
      phone: '310 555',
      lang: 'en',
    });
    expect([other.status, other.h1, other.language]).toEqual([200, 'Your details', 'en']);
    expect(other.form.values).toMatchObject({
      method: 'PSE',
      bank: 'CO_NEQUI',
      personType: 'INDIVIDUAL',
      phone: '310 555',
    });
    expect((await payer.open(link.paymentLinkUrl)).language).toBe('en');
  });

  it('require the authorization, which is stored with encrypted evidence, without plaintext', async () => {
    const link = await driver.link({ rail: 'PSE' });
    const payer = new PayerBrowser({ 'user-agent': 'Teléfono de prueba/1.0' });
    const page = await payer.submit(await payer.open(link.paymentLinkUrl), { bank: 'CO_NEQUI' });
    expect(page.text).toContain('Ley 1581 de 2012');
    const rejected = await payer.submit(page, without(PAYER_DETAILS, 'authorize') as Record<string, string>);
    expect([rejected.status, rejected.fieldError('authorize') !== null, rejected.fieldError('name')]).toEqual(
      [422, true, null],
    );
    expect(await driver.attempts(link)).toEqual([]);
    const bank = await payer.submit(rejected, { authorize: 'yes' });
    expect(bank.h1).toBe('Abriendo Nequi…');
    const { id } = await driver.latestAttempt(link);
    const proof = await readAuthorization(id);
    expect(proof).toMatchObject({ textId: 'datos-2026-11-2', address: '127.0.0.1' });
    expect(JSON.stringify(proof)).toContain('/1.0');
    expect(proof?.encrypted.includes(Buffer.from('127.0.0.1'))).toBe(false);
    const [row] = await stack.database.query<{ text: string }>(
      "select encode(customer, 'escape') as text from caudal.payins where id = $1",
      [id],
    );
    expect(TYPED.filter((value) => row?.text.includes(value))).toEqual([]);
  });

  it('never appear again, neither in another browser nor on the receipt', async () => {
    const link = await driver.link({ rail: 'PSE' });
    const { payer, reference, page } = await driver.pse(link);
    const other = new PayerBrowser();
    const seen = [page, await other.open(link.paymentLinkUrl), await payer.open(link.paymentLinkUrl)];
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    await driver.waitForStatus(link, 'COMPLETED');
    const paid = await payer.open(link.paymentLinkUrl);
    const otherPage = await other.open(link.paymentLinkUrl);
    expect([paid.h1, otherPage.h1]).toEqual(['Pago recibido', 'Este pago ya fue realizado']);
    const receipt = await other.click(otherPage, 'Ver comprobante');
    expect(receipt.url).toBe(paid.linkTo('Ver comprobante'));
    for (const each of [...seen, paid, otherPage, receipt]) expect(findShown(each, TYPED)).toEqual([]);
  });
});

describe('Bre-B', () => {
  it('asks for no personal data, and stores none that a form sends', async () => {
    const link = await driver.link({ rail: 'BRE_B' });
    const payer = new PayerBrowser();
    const start = await payer.open(link.paymentLinkUrl);
    expect([start.h1, start.form.values]).toEqual(['Pague con Bre-B', { method: 'BRE_B' }]);
    const key = await payer.submit(start, PAYER_DETAILS);
    expect(key.brebKey).toHaveLength(20);
    const payin = await driver.latestAttempt(link);
    expect(payin.inlineCustomer).toBeNull();
    expect(await readAuthorization(payin.id)).toBeNull();
  });
});

describe('a retry in the same browser', () => {
  async function declined() {
    const link = await driver.link({ rail: 'PSE' });
    const { payer, reference } = await driver.pse(link);
    await driver.simulator.endTransaction({ reference, state: 'NOT_AUTHORIZED', reason: '11' });
    const page = await until('the decline is shown', async () => {
      const next = await payer.open(link.paymentLinkUrl);
      return next.h1 === 'Su banco no aprobó el pago' && next;
    });
    return { link, payer, page };
  }
  const details = (url: string) => `${url}?m=PSE&bank=CO_BANCOLOMBIA&personType=INDIVIDUAL`;

  it('has the bank, the details and the authorization of the earlier attempt', async () => {
    const { link, payer, page } = await declined();
    const bank = await payer.click(page, 'Intentar de nuevo');
    expect(bank.form.values['bank']).toBe('CO_BANCOLOMBIA');
    const form = await payer.submit(bank);
    expect(form.form.values).toMatchObject({
      ...PAYER_DETAILS,
      idNumber: '52123456',
      phone: '+573105550199',
    });
    expect((await payer.submit(form)).h1).toBe('Abriendo Bancolombia…');
    expect(await driver.attempts(link)).toHaveLength(2);
  });

  it('is the only one: another browser, or a cookie with the id of the payin, gets an empty form', async () => {
    const { link, payer } = await declined();
    const other = new PayerBrowser();
    expect(findShown(await other.open(details(link.paymentLinkUrl)), TYPED)).toEqual([]);
    const { id } = await driver.latestAttempt(link);
    const [name = ''] = [...payer.cookies.keys()].filter((each) => each.startsWith('attempt_'));
    other.cookies.set(name, `${id}.${'A'.repeat(22)}`);
    expect(findShown(await other.open(details(link.paymentLinkUrl)), TYPED)).toEqual([]);
    expect(findShown(await payer.open(details(link.paymentLinkUrl)), TYPED)).toContain(PAYER_DETAILS.name);
  });
});

describe('the customer given by the merchant', () => {
  const plaintext = [CUSTOMER.name, 'María', 'Rojas', CUSTOMER.idNumber, '3001234567', CUSTOMER.email];

  it('is shown masked, is not requested again, and needs no authorization', async () => {
    const link = await driver.link({ rail: 'BRE_B', inlineCustomer: CUSTOMER });
    const payer = new PayerBrowser();
    const start = await payer.open(link.paymentLinkUrl);
    expect(start.h1).toBe('Pague con Bre-B');
    expect(start.text).toContain('Ana M••• R••• · ••••••4050');
    const key = await payer.submit(start);
    for (const page of [start, key]) expect(findShown(page, plaintext)).toEqual([]);
    const payin = await driver.latestAttempt(link);
    expect(payin.inlineCustomer).toEqual(CUSTOMER);
    expect(await readAuthorization(payin.id)).toBeNull();
  });

  it('cannot be replaced by the payer', async () => {
    const link = await driver.link({ rail: 'PSE', pse: { bank: 'CO_DAVIPLATA' }, inlineCustomer: CUSTOMER });
    const payer = new PayerBrowser();
    const bank = await payer.open(link.paymentLinkUrl);
    expect(findShown(bank, plaintext)).toEqual([]);
    const at = await payer.submit(bank, PAYER_DETAILS);
    expect(at.h1).toBe('Abriendo Daviplata…');
    expect((await driver.latestAttempt(link)).inlineCustomer).toEqual(CUSTOMER);
  });
});

describe('the choice of a bank', () => {
  it('lists the most used banks first, without script', async () => {
    const link = await driver.link({ rail: 'PSE' });
    const payer = new PayerBrowser();
    const page = await payer.open(link.paymentLinkUrl);
    expect(page.h1).toBe('Elija su banco');
    const banks = page.radioValues('bank');
    expect(banks.slice(0, 2)).toEqual(['CO_NEQUI', 'CO_DAVIPLATA']);
    expect(banks.length).toBeGreaterThan(30);
    expect(new Set(banks).size).toBe(banks.length);
    expect(page.form.values).toEqual({ m: 'PSE', personType: 'INDIVIDUAL' });
    // Without a valid bank the payer stays on this page.
    for (const bank of ['', 'CO_SUIZA', '<script>'])
      expect((await payer.submit(page, { bank })).h1).toBe('Elija su banco');
  });

  it('is preselected by the merchant and can be changed', async () => {
    const link = await driver.link({ rail: 'PSE', pse: { bank: 'CO_BANCOLOMBIA' } });
    const payer = new PayerBrowser();
    const page = await payer.open(link.paymentLinkUrl);
    expect(page.form.values['bank']).toBe('CO_BANCOLOMBIA');
    expect(page.text).toContain('Continuar a Bancolombia');
    const { payin } = await driver.pse(link, payer, 'CO_NU');
    expect(payin.sourceData.bank).toBe('CO_NU');
  });
});

describe('a PSE payin without a customer', () => {
  it('has our page as pseUrl, where the payer enters the details and continues to the bank', async () => {
    const payin = await createPayin(stack.api, without(psePayin(), 'inlineCustomer'));
    expect(payin.status).toBe('PENDING');
    const url = payin.sourceData.pseUrl ?? '';
    expect(url).toMatch(/\/checkout\/p\/[\w-]{50}$/);
    expect(url).not.toContain(payin.id);
    const payer = new PayerBrowser();
    const page = await payer.open(url);
    expect([page.h1, page.text.includes('$ 49.800')]).toEqual(['Sus datos', true]);
    const wrong = await payer.submit(page, { ...PAYER_DETAILS, email: 'nada' });
    expect([wrong.status, wrong.fieldError('email')]).toEqual([
      422,
      'Escriba un correo, por ejemplo ana@correo.com.',
    ]);
    expect(wrong.form.values).toEqual({ ...PAYER_DETAILS, email: 'nada' });
    const at = await payer.submit(wrong, { email: PAYER_DETAILS.email });
    expect(at.h1).toBe('Abriendo Bancolombia…');
    const bankUrl = at.linkTo('Ir a Bancolombia');
    expect(bankUrl.startsWith(stack.simulatorUrl)).toBe(true);
    expect(await readPayin(stack.api, payin.id)).toMatchObject({
      status: 'PROCESSING',
      sourceData: { pseUrl: bankUrl, bank: 'CO_BANCOLOMBIA' },
      inlineCustomer: { name: PAYER_DETAILS.name, idNumber: '52123456', phone: '+573105550199' },
    });
    expect(await readAuthorization(payin.id)).toMatchObject({ textId: 'datos-2026-11-2' });

    // Another visitor with the same URL neither sees nor changes them.
    const other = new PayerBrowser();
    expect(findShown(await other.open(url), TYPED)).toEqual([]);
    const late = await other.post(`${url}/payer`, { ...PAYER_DETAILS, name: 'Otra Persona' });
    expect(late.h1).toBe('Abriendo Bancolombia…');
    expect((await readPayin(stack.api, payin.id)).inlineCustomer?.['name']).toBe(PAYER_DETAILS.name);
  });

  it('is polled when the payer returns from the bank, even without a notification', async () => {
    const payin = await createPayin(stack.api, without(psePayin(), 'inlineCustomer'));
    const payer = new PayerBrowser();
    await payer.submit(await payer.open(payin.sourceData.pseUrl ?? ''), PAYER_DETAILS);
    const reference = await readPseReference(stack.database, payin.id);
    const returnUrl = (await driver.simulator.transaction(reference))?.returnUrl ?? '';
    await driver.simulator.addFault({ rail: 'PSE', operation: 'notice', fault: 'lost-notice', times: 1 });
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    expect((await payer.open(returnUrl)).status).toBe(200);
    // The scheduled poll would run after seven minutes.
    await within('the poll', 5000, () => driver.outcomes.waitForStatus(payin.id, 'CONFIRMED'));
    expect((await payer.open(returnUrl)).h1).toBe('Pago recibido');
    await driver.simulator.clearFaults();
  });

  it('without payer details expires after an hour', async () => {
    const payin = await createPayin(stack.api, without(psePayin(), 'inlineCustomer'));
    const url = payin.sourceData.pseUrl ?? '';
    const payer = new PayerBrowser();
    const page = await payer.open(url);
    await stack.shiftTime(61 * 60_000);
    expect((await payer.submit(page, PAYER_DETAILS)).h1).toBe('El tiempo para pagar terminó');
    await driver.outcomes.waitForStatus(payin.id, 'CANCELED');
    expect((await payer.open(url)).h1).toBe('El tiempo para pagar terminó');
    expect(await readAuthorization(payin.id)).toBeNull();
  });
});

describe('a receipt', () => {
  it('exists only for a paid payin and shows what was paid', async () => {
    const link = await driver.link({ description: 'Dos pares de zapatos' });
    const { payer, reference } = await driver.pse(link);
    const { trazabilityCode } = (await driver.simulator.transaction(reference)) ?? {};
    await driver.simulator.endTransaction({ reference, state: 'OK' });
    const { reference: ours } = await driver.waitForStatus(link, 'COMPLETED');
    const receipt = await payer.click(await payer.open(link.paymentLinkUrl), 'Ver comprobante');
    expect([receipt.status, receipt.h1]).toEqual([200, 'Comprobante de pago']);
    for (const fact of ['$ 49.800', 'Tienda Aurora', ours, 'PSE · Bancolombia', trazabilityCode ?? 'no CUS'])
      expect(receipt.text).toContain(fact);
    expect(findShown(receipt, TYPED)).toEqual([]);
    const [token = ''] = /[\w-]{50}$/.exec(receipt.url) ?? [];
    for (const kind of ['l', 'p'])
      expect((await payer.open(receipt.url.replace('/r/', `/${kind}/`))).status).toBe(404);
    const wrong = (token.startsWith('A') ? 'B' : 'A') + token.slice(1);
    expect((await payer.open(receipt.url.replace(token, wrong))).status).toBe(404);
  });

  it('does not exist before the payment', async () => {
    const link = await driver.link();
    const { payin } = await driver.breb(link);
    const { receiptTokens, cell } = caudal.deps;
    const { organization } = await caudal.authenticate(stack.organization.apiKey);
    const token = receiptTokens.make({ organizationNumber: organization.number, id: payin.id }, cell);
    const url = link.paymentLinkUrl.replace(/\/l\/.*/, `/r/${token}`);
    expect((await new PayerBrowser().open(url)).status).toBe(404);
    await driver.simulator.pay({ key: payin.sourceData.keyString ?? '' });
    await driver.waitForStatus(link, 'COMPLETED');
    await until('the receipt exists', async () => (await new PayerBrowser().open(url)).status === 200);
  });
});
