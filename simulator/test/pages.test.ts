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
  const changes = { description: '<script>alert("x")</script>', amount: '1234567.50' };
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
  expect(html).toContain('name="viewport"');
  expect(html).toContain('&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;');
  expect(html).not.toMatch(/<script|src=|url\(|http-equiv/);
});

test.each([
  [{ decision: 'approve' }, 'OK', null, 'Pago aprobado'],
  [{ decision: 'reject' }, 'NOT_AUTHORIZED', '11', 'Fondos insuficientes'],
  [{ decision: 'reject', reason: '8' }, 'NOT_AUTHORIZED', '8', 'Supera el tope'],
  [{ decision: 'cancel', reason: '8' }, 'NOT_AUTHORIZED', '1', 'Pago cancelado'],
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

test('the pay page normalizes the typed key, fills in its amount, and pays, rejects or cancels', async () => {
  const [paid, rejected, canceled] = [await registered(), await registered(), await registered()];
  const page = `${simulator.url}/pagar`;
  const { html } = await openPage(`${page}?key=${encodeURIComponent(` ${paid.toLowerCase()} `)}`);
  expect(html).toContain(paid);
  expect(html).toContain('value="49800.00"');
  const done = await postForm(page, { key: paid, amount: '49800,5', decision: 'pay' });
  expect(done.html).toContain('Pago hecho');
  const { payments } = await getKey(simulator, paid);
  expect(payments).toMatchObject([{ amount: '49800.50' }]);
  expect(done.html).toContain(payments[0]?.executionId);
  expect((await postForm(page, { key: rejected, decision: 'reject' })).html).toContain('Pago rechazado');
  expect(await getKey(simulator, rejected)).toMatchObject({ status: 'REJECTED', code: '4016' });
  expect((await postForm(page, { key: canceled, decision: 'cancel' })).html).toContain('Pago cancelado');
  expect(await getKey(simulator, canceled)).toMatchObject({ status: 'CANCELED', code: null });
});

test('the pay page shows why a key cannot be paid, and pays a closed key with anyway', async () => {
  const key = await registered();
  await breb('keys/close', { keys: [key] });
  const page = `${simulator.url}/pagar`;
  expect((await postForm(page, { key, amount: '', decision: 'pay' })).html).toContain('0004');
  for (const amount of ['0', '-5', '1.2.3', '49.800,00', 'mil']) {
    expect((await postForm(page, { key, amount, decision: 'pay', anyway: 'on' })).html).toContain(
      'Escriba el valor',
    );
  }
  expect((await getKey(simulator, key)).payments).toEqual([]);
  expect((await postForm(page, { key, amount: '', decision: 'pay', anyway: 'on' })).html).toContain(
    'Pago hecho',
  );
  expect((await getKey(simulator, key)).payments).toMatchObject([{ amount: '49800.00' }]);
  const escaped = await openPage(`${page}?key=${encodeURIComponent('"><script>')}`);
  expect(escaped.html).not.toContain('<script');
});

test('the home page lists magic documents, test keys, control paths and links to the ten most recent open keys and transactions', async () => {
  const keys: string[] = [];
  for (let index = 0; index < 12; index += 1) keys.push(await registered());
  await pay(simulator, { key: keys.at(-1) ?? '' });
  const bank = await createBankUrl('ref-home', { description: 'Pedido de la casa' });
  const { html } = await openPage(simulator.url);
  for (const { document } of MAGIC_DOCUMENTS) expect(html).toContain(document);
  for (const { key, es } of TEST_KEYS.values())
    expect(html).toContain(`<code>${key}</code><span>${es}</span>`);
  for (const text of ['/control/keys/pay', '/control/orders/end', 'Pedido de la casa']) {
    expect(html).toContain(text);
  }
  const listed = [...html.matchAll(/href="pagar\?key=([^"]+)"/g)].map(([, key]) =>
    decodeURIComponent(key ?? ''),
  );
  expect(listed).toEqual(keys.slice(1, -1).toReversed());
  expect(html).toContain(`href="${bank.slice(simulator.url.length + 1)}"`);
});
