import { inflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { PayerBrowser, type PayerPage } from '../harness/payer-browser.ts';
import { readQr } from '../harness/read-qr.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

let stack: Stack;
let driver: CheckoutDriver;
let receipt: { readonly url: string; readonly payinId: string; readonly reference: string };

beforeAll(async () => {
  stack = await startStack({
    apis: 1,
    workers: 1,
    // The payments are changed here while they wait to settle.
    settings: { CAUDAL_WORKER_POLL_MS: '50', CAUDAL_SETTLEMENT_DELAY_MINUTES: '43200' },
  });
  driver = new CheckoutDriver(stack);
  receipt = await paidReceipt();
});
afterAll(() => stack?.stop());

async function paidReceipt(): Promise<typeof receipt> {
  const link = await driver.link({ rail: 'BRE_B', description: 'Dos pares de zapatos' });
  const { payer, key, payin } = await driver.breb(link);
  await driver.simulator.pay({ key });
  await driver.waitForStatus(link, 'COMPLETED');
  const page = await payer.open(link.paymentLinkUrl);
  return { url: page.linkTo('Ver comprobante'), payinId: payin.id, reference: payin.reference };
}

function readCode({ text }: PayerPage): string {
  return /[0-9A-Z]{4}-[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(text)?.[0] ?? '';
}

/** Changes the character that is this far from the end. In the middle every bit of it counts, at the end not all do. */
function changeCharacter(text: string, fromEnd: number): string {
  const at = text.length - fromEnd;
  return `${text.slice(0, at)}${text.charAt(at) === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}

function readReceiptQr({ html }: PayerPage): string {
  return readQr(/class="receipt-qr" src="([^"]+)"/.exec(html)?.[1] ?? '');
}

async function getStatus(code: string): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await fetch(new URL(`/verify/receipts/${code}`, receipt.url));
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

async function check(text: string, page = '/verificar'): Promise<string> {
  const url = new URL(page, receipt.url);
  url.searchParams.set('c', text);
  return (await new PayerBrowser().open(url.href)).text;
}

describe('the receipt page', () => {
  it('shows the payment as paid, what was bought, a code and a QR code, and marks a test', async () => {
    const page = await new PayerBrowser().open(receipt.url);
    expect([page.status, page.h1]).toEqual([200, 'Comprobante de pago']);
    for (const text of [
      'PAGADO',
      'COMPROBANTE DE PRUEBA: no se movió dinero real.',
      'Dos pares de zapatos',
      '$ 49.800 COP',
      receipt.reference,
      `Verifique este comprobante en ${new URL(receipt.url).host}/verificar`,
    ])
      expect(page.text).toContain(text);
    expect(readReceiptQr(page)).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/verificar#[0-9A-Z]{200,}$/);
  });

  it('keeps its code when it is opened again', async () => {
    const codes = await Promise.all(
      [1, 2, 3].map(async () => readCode(await new PayerBrowser().open(receipt.url))),
    );
    expect(new Set(codes).size).toBe(1);
  });

  it('is a PDF file with the same facts, the code and the test mark', async () => {
    const page = await new PayerBrowser().open(receipt.url);
    const response = await fetch(`${receipt.url}.pdf`);
    expect(response.headers.get('content-type')).toBe('application/pdf');
    const text = readPdf(Buffer.from(await response.arrayBuffer()));
    for (const fact of [
      'PAGADO',
      'COMPROBANTE DE PRUEBA',
      '$\u00a049.800 COP',
      'Dos pares de zapatos',
      readCode(page),
    ])
      expect(text).toContain(fact);
    expect((text.match(/ re f/g) ?? []).length).toBeGreaterThan(500);
    const english = readPdf(Buffer.from(await (await fetch(`${receipt.url}.pdf?lang=en`)).arrayBuffer()));
    expect(english).toContain('TEST RECEIPT');
    expect((await fetch(`${changeCharacter(receipt.url, 12)}.pdf`)).status).toBe(404);
  });
});

describe('/verificar without JavaScript', () => {
  it('accepts a real code and a real QR code, in both languages', async () => {
    const page = await new PayerBrowser().open(receipt.url);
    const code = readCode(page);
    for (const text of [code, code.toLowerCase().replaceAll('-', ' '), readReceiptQr(page)]) {
      const answer = await check(text);
      expect(answer).toContain('Comprobante de PRUEBA');
      expect(answer).toContain('El pago se recibió y el dinero no se ha devuelto.');
      expect(answer).toContain('$ 49.800 COP');
    }
    expect(await check(code, '/verify')).toContain('TEST receipt');
  });

  it('refuses a changed QR code, an unknown code and a mistyped code', async () => {
    const page = await new PayerBrowser().open(receipt.url);
    const url = readReceiptQr(page);
    // The signature is 103 characters long.
    expect(await check(changeCharacter(url, 50))).toContain('Comprobante falso');
    expect(await check('0000-0000-0000')).toContain('No existe un comprobante con este código');
    const code = readCode(page);
    expect(await check(changeCharacter(code, 1))).toContain('El código no está bien escrito');
  });

  it('loads nothing from elsewhere: its policy permits only its own script', async () => {
    const response = await fetch(new URL('/verificar', receipt.url));
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(/default-src 'none'; script-src 'sha256-[\w+/=]{44}'; style-src 'sha256-/);
    expect(await response.text()).not.toMatch(/(?:src|href)="https?:/);
  });
});

describe('the state of a receipt', () => {
  it('is confirmed with the signed facts, or unknown', async () => {
    const code = readCode(await new PayerBrowser().open(receipt.url));
    expect(await getStatus(code)).toEqual({
      status: 200,
      body: { verdict: null, state: 'confirmed', receipt: expect.stringMatching(/^[0-9A-Z]+$/) },
    });
    expect(await getStatus('000000000000')).toMatchObject({ status: 404, body: { state: 'unknown' } });
    expect(await getStatus('123')).toMatchObject({ status: 400, body: { verdict: 'invalid_code' } });
  });

  it('tells when the money was returned or reversed, and the receipt is signed no longer', async () => {
    const { url, payinId } = await paidReceipt();
    const before = await new PayerBrowser().open(url);
    const set = (change: string) =>
      stack.database.query(`update caudal.payins set ${change} where id = $1`, [payinId]);
    await set('chargeback_at = caudal.now()');
    expect(await getStatus(readCode(before))).toEqual({
      status: 200,
      body: { verdict: null, state: 'returned', receipt: null },
    });
    expect(await check(readReceiptQr(before))).toContain('El dinero de este pago se devolvió');
    const after = await new PayerBrowser().open(url);
    expect(after.text).toContain('DEVUELTO');
    expect(after.html).not.toContain('class="receipt-qr"');
    await set(
      "chargeback_at = null, settlement_status = 'REVERSED', settles_at = null, payment_verified_at = null",
    );
    expect(await check(readReceiptQr(before))).toContain('Este pago se anuló');
  });

  it('is limited per network, so that codes cannot be guessed', async () => {
    const statuses = new Set<number>();
    // More than the 120 of one minute, in case that minute ends between them.
    await until('a lookup is refused', async () => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => getStatus('000000000000')));
      for (const { status } of answers) statuses.add(status);
      return statuses.has(429);
    });
    expect(statuses).toEqual(new Set([404, 429]));
  });
});

describe('the published keys', () => {
  it('are a JSON Web Key Set with their status', async () => {
    const response = await fetch(new URL('/.well-known/caudal-receipt-keys.json', receipt.url));
    expect(await response.json()).toEqual({
      keys: [
        {
          kty: 'OKP',
          crv: 'Ed25519',
          alg: 'EdDSA',
          use: 'sig',
          kid: expect.stringMatching(/^[0-9A-Z]{8}$/),
          x: expect.stringMatching(/^[\w-]{43}$/),
          status: 'current',
          validUntil: null,
        },
      ],
      revoked: [],
    });
  });

  it('are printed by the operator command', async () => {
    expect(await stack.command('receipts', 'keys')).toMatch(/^[0-9A-Z]{8} {2}current {2}[\w-]{43}\n$/);
  });
});

/** The drawing of the page, with its texts in plain. */
function readPdf(file: Buffer): string {
  const start = file.indexOf('stream\n') + 7;
  return inflateSync(file.subarray(start, file.indexOf('\nendstream'))).toString('latin1');
}
