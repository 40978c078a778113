import { afterAll, beforeAll, expect, test } from 'vitest';
import { TEST_KEYS } from '../src/breb/test-keys.ts';
import { MAGIC_DOCUMENTS } from '../src/magic-documents.ts';
import { cleanUp, type Simulator, startSimulator } from './harness.ts';
import { createOrder, endTransaction, getKey, getTransaction, journal, pay } from './payer.ts';
import { type BrebClient, brebClient, freshKey, registration } from './wire-client.ts';

let simulator: Simulator;
let breb: BrebClient;

beforeAll(async () => {
  simulator = await startSimulator();
  breb = await brebClient(simulator);
});
afterAll(cleanUp);

async function openPage(url: string) {
  const response = await fetch(url);
  return { status: response.status, headers: response.headers, html: await response.text() };
}

async function postForm(url: string, form: Record<string, string>) {
  const response = await fetch(url, { method: 'POST', body: new URLSearchParams(form), redirect: 'manual' });
  return { status: response.status, html: await response.text() };
}

async function createBankUrl(reference: string, changes: object = {}): Promise<string> {
  await createOrder(simulator, reference, changes);
  return (await getTransaction(simulator, reference)).bankUrl;
}

async function registered(changes: object = {}): Promise<string> {
  const item = registration(freshKey(), changes);
  await breb('keys/register', { keys: [item] });
  return item.key;
}

test('the bank page shows the payment in Spanish, escapes its values, loads no resources and posts only to itself', async () => {
  const changes = {
    description: '<script>alert("x")</script>',
    merchantName: 'Tienda "Aurora"',
    amount: '1234567.50',
  };
  const { status, headers, html } = await openPage(await createBankUrl('ref-page', changes));
  const { trazabilityCode } = (await getTransaction(simulator, 'ref-page')) as unknown as Record<
    string,
    string
  >;
  expect(status).toBe(200);
  expect(headers.get('content-type')).toBe('text/html; charset=utf-8');
  const policy = headers.get('content-security-policy');
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("form-action 'self'");
  for (const text of ['BANCOLOMBIA', 'Banco simulado', 'COP $ 1.234.567,50', 'Ana Peña', trazabilityCode]) {
    expect(html).toContain(text);
  }
  for (const text of ['Aprobar el pago', 'Rechazar', 'Cancelar', 'Fondos insuficientes']) {
    expect(html).toContain(text);
  }
  expect(html).toContain('<a href="http://127.0.0.1:3000/return">Salir sin pagar</a>');
  expect(html).toContain('<dt>Comercio</dt><dd>Tienda &quot;Aurora&quot;</dd>');
  expect(html).toContain('name="viewport"');
  expect(html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
  expect(html).not.toMatch(/<script|src=|url\(|http-equiv/);
});

test.each([
  [{ decision: 'approve' }, 'OK', null, 'Pago aprobado'],
  [{ decision: 'reject' }, 'NOT_AUTHORIZED', '11', 'Fondos insuficientes'],
  [{ decision: 'reject', reason: '8' }, 'NOT_AUTHORIZED', '8', 'Supera el tope'],
  [{ decision: 'cancel', reason: '8' }, 'NOT_AUTHORIZED', '1', 'El pagador no autorizó el pago'],
])(
  'submitting %o on the bank page decides the transaction and shows a link back to the merchant',
  async (form, state, reason, text) => {
    const reference = `ref-${Object.values(form).join('-')}`;
    const url = await createBankUrl(reference, { returnUrl: 'https://shop.example/back?a=1&b=2' });
    const after = await postForm(url, form);
    expect(after.status).toBe(200);
    expect(after.html).toContain(text);
    expect(after.html).toContain('href="https://shop.example/back?a=1&amp;b=2">Volver al comercio</a>');
    expect(await getTransaction(simulator, reference)).toMatchObject({ state, reason });
    expect((await journal(simulator, 'pse.ended')).at(-1)).toMatchObject({ reference, state, reason });
  },
);

test('the bank page of a decided transaction shows its state without buttons, and a second submit changes nothing', async () => {
  const url = await createBankUrl('ref-decided');
  await endTransaction(simulator, { reference: 'ref-decided', state: 'OK' });
  const { html } = await openPage(url);
  expect(html).toContain('Pago aprobado');
  expect(html).not.toContain('<button');
  expect((await postForm(url, { decision: 'cancel' })).html).toContain('Pago aprobado');
  expect(await getTransaction(simulator, 'ref-decided')).toMatchObject({ state: 'OK' });
  // The page was never opened while the transaction was PENDING.
  expect(
    (await journal(simulator, 'pse.opened')).filter((line) => line['reference'] === 'ref-decided'),
  ).toEqual([]);
});

test('a submit on the bank page returns 404 for a wrong secret and 400 for an invalid decision', async () => {
  const url = await createBankUrl('ref-guarded');
  expect((await postForm(url.replace(/t=.*/, 't=wrong'), { decision: 'approve' })).status).toBe(404);
  expect((await postForm(url, { decision: 'steal' })).status).toBe(400);
  expect((await postForm(url, { decision: 'reject', reason: '99' })).status).toBe(400);
  expect(await getTransaction(simulator, 'ref-guarded')).toMatchObject({ state: 'PENDING' });
});

test('the pay page finds a key typed with spaces and small letters, and fills in no amount', async () => {
  const key = await registered();
  const grouped = ` ${key.slice(0, 5)} ${key.slice(5, 9)}\u00a0${key.slice(9)} `.toLowerCase();
  const page = `${simulator.url}/pagar`;
  const { html } = await openPage(`${page}?key=${encodeURIComponent(grouped)}`);
  expect(html).toContain(`<dd>${key}</dd>`);
  expect(html).toContain('<dd>Registrada, se puede pagar</dd>');
  expect(html).toMatch(/<input type="text" id="amount"[^>]* required>/);
  expect(html).not.toMatch(/<input type="text" id="amount"[^>]* value=/);
  for (const amount of ['', ' ', '0', '-5', '1.2.3', '49.800,00', 'mil']) {
    const refused = await postForm(page, { key, amount, decision: 'pay' });
    expect(refused.html).toContain('Escriba el valor');
  }
  expect((await getKey(simulator, key)).payments).toEqual([]);
  const done = await postForm(page, { key: grouped, amount: '49800,5', decision: 'pay' });
  expect(done.html).toContain('Pago hecho');
  const { payments } = await getKey(simulator, key);
  expect(payments).toMatchObject([{ amount: '49800.50' }]);
  expect(done.html).toContain(payments[0]?.executionId);
});

test.each([
  ['half', '', ['24900.00']],
  ['double', '20000', ['99600.00']],
  ['twice', '', ['49800.00', '49800.00']],
  ['twice', '20000', ['20000.00', '20000.00']],
])('on the pay page a payer with decision %s and amount "%s" pays %j', async (decision, amount, expected) => {
  const key = await registered();
  await postForm(`${simulator.url}/pagar`, { key, amount, decision });
  const { payments } = await getKey(simulator, key);
  expect(payments.map((payment) => payment.amount)).toEqual(expected);
});

test('on the pay page a payer gives up, or their bank rejects the payment', async () => {
  const [rejected, canceled] = [await registered(), await registered()];
  const page = `${simulator.url}/pagar`;
  expect((await postForm(page, { key: rejected, decision: 'reject' })).html).toContain('Pago rechazado');
  expect(await getKey(simulator, rejected)).toMatchObject({ status: 'REJECTED', code: '4016' });
  expect((await postForm(page, { key: canceled, decision: 'cancel' })).html).toContain('El pagador desistió');
  expect(await getKey(simulator, canceled)).toMatchObject({ status: 'CANCELED', code: null });
  expect((await postForm(page, { key: canceled, decision: 'cancel' })).html).toContain('No se pudo');
});

test('the pay page shows why a closed key cannot be paid, and a late payer pays it', async () => {
  const key = await registered();
  await breb('keys/close', { keys: [key] });
  const page = `${simulator.url}/pagar`;
  expect((await postForm(page, { key, amount: '49800', decision: 'pay' })).html).toContain('0004');
  expect((await getKey(simulator, key)).payments).toEqual([]);
  expect((await postForm(page, { key, amount: '', decision: 'late' })).html).toContain('Pago hecho');
  expect((await getKey(simulator, key)).payments).toMatchObject([{ amount: '49800.00' }]);
  const escaped = await openPage(`${page}?key=${encodeURIComponent('"><script>')}`);
  expect(escaped.html).not.toContain('<script');
});

test('the pay page of an open key announces a late payment', async () => {
  const key = await registered();
  const { html } = await postForm(`${simulator.url}/pagar`, { key, amount: '', decision: 'late' });
  expect(html).toContain('El pago llegará tarde');
  expect(html).toContain('<dt>Llega al cerrarse la llave</dt><dd>COP $ 49.800,00</dd>');
  expect((await getKey(simulator, key)).payments).toEqual([]);
});

test('on the bank page of a failed transaction the payer can still approve late', async () => {
  const url = await createBankUrl('ref-late-page');
  expect((await postForm(url, { decision: 'abandon' })).html).toContain('(motivo 14)');
  expect((await postForm(url, { decision: 'approve' })).html).toContain('Pago fallido');
  expect((await postForm(url, { decision: 'approve-late' })).html).toContain('Pago aprobado');
  expect(await getTransaction(simulator, 'ref-late-page')).toMatchObject({ state: 'OK' });
  await postForm(url, { decision: 'approve-late' });
  const ended = (await journal(simulator, 'pse.ended')).filter(
    ({ reference }) => reference === 'ref-late-page',
  );
  expect(ended).toHaveLength(2);
});

test('a payer who leaves the bank page decides nothing until the bank approves by itself', async () => {
  const url = await createBankUrl('ref-left-page');
  const { html } = await postForm(url, { decision: 'approve-later' });
  expect(html).toContain('El pagador se fue. El banco autoriza solo el');
  expect(await getTransaction(simulator, 'ref-left-page')).toMatchObject({
    state: 'PENDING',
    openedAt: expect.any(String),
    approvesAt: expect.any(String),
  });
});

test('every page is in English on request, remembers the choice and offers the other language', async () => {
  const key = await registered();
  const bank = await createBankUrl('ref-english');
  const cookie = (await openPage(`${simulator.url}/?lang=en`)).headers.get('set-cookie')?.split(';')[0];
  expect(cookie).toBe('simulator_language=en');
  for (const [url, text] of [
    [`${simulator.url}/`, 'Pays half'.toLowerCase()],
    [`${simulator.url}/pagar?key=${encodeURIComponent(key)}`, 'Pay a Bre-B key'],
    [bank, 'Approve the payment'],
  ] as const) {
    const response = await fetch(url, { headers: { cookie: cookie ?? '' } });
    const html = await response.text();
    expect(html).toContain('<html lang="en">');
    expect(html).toContain(text);
    const [, link = ''] = /<footer><a href="([^"]+)"/.exec(html) ?? [];
    const other = await openPage(new URL(link.replaceAll('&amp;', '&'), url).href);
    expect(other.status).toBe(200);
    expect(other.html).toContain('<html lang="es">');
    expect(other.html).not.toContain(text);
  }
});

test('the home page lists magic documents, test keys, control paths and links to the ten most recent open keys and transactions', async () => {
  const keys: string[] = [];
  for (let index = 0; index < 12; index += 1) keys.push(await registered());
  await pay(simulator, { key: keys.at(-1) ?? '' });
  const bank = await createBankUrl('ref-home', { description: 'Pedido de la casa' });
  const { html } = await openPage(simulator.url);
  const english = await openPage(`${simulator.url}/?lang=en`);
  for (const { document, es, en } of MAGIC_DOCUMENTS) {
    expect(html).toContain(`<code>${document}</code><span>${es}</span>`);
    expect(english.html).toContain(`<code>${document}</code><span>${en}</span>`);
  }
  for (const { key, es } of TEST_KEYS.values())
    expect(html).toContain(`<code>${key}</code><span>${es}</span>`);
  for (const text of ['/control/keys/pay-late', '/control/transactions/leave', 'Pedido de la casa']) {
    expect(html).toContain(text);
  }
  const listed = [...html.matchAll(/href="pagar\?key=([^"]+)"/g)].map(([, key]) =>
    decodeURIComponent(key ?? ''),
  );
  expect(listed).toEqual(keys.slice(1, -1).toReversed());
  expect(html).toContain(`href="${bank.slice(simulator.url.length + 1)}"`);
});
