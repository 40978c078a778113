import { AxeBuilder } from '@axe-core/playwright';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signingKeyFromSeed } from '../server/src/kit/ed25519.ts';
import { decodeBase32, encodeBase32 } from '../server/src/receipts/base32.ts';
import { decodeReceipt, encodeFacts, type ReceiptFacts } from '../server/src/receipts/receipt-facts.ts';
import { ReceiptKeys, receiptKeyId } from '../server/src/receipts/receipt-keys.ts';
import { readQr } from '../server/test/harness/read-qr.ts';
import { screen } from './browser.ts';
import { CheckoutStage, customer, heading } from './checkout-stage.ts';

const RETIRED = signingKeyFromSeed(Buffer.alloc(32, 1));
const REVOKED = signingKeyFromSeed(Buffer.alloc(32, 2));
const STRANGER = signingKeyFromSeed(Buffer.alloc(32, 3));

let stage: CheckoutStage;
let receiptUrl: string;
/** The content of the QR code of a real receipt. */
let qr: string;
/** The receipt in it. */
let text: string;

beforeAll(async () => {
  stage = await CheckoutStage.open({
    CAUDAL_RECEIPT_KEYS_RETIRED: [RETIRED, REVOKED]
      .map(({ publicKey }) => `${publicKey.toString('base64url')}@2099-12-31`)
      .join(','),
    CAUDAL_RECEIPT_KEYS_REVOKED: receiptKeyId(REVOKED.publicKey),
  });
  ({ receiptUrl, qr } = await payAndOpenReceipt());
  text = new URL(qr).hash.slice(1);
});
afterAll(() => stage?.close());

async function payAndOpenReceipt(): Promise<{ page: Page; receiptUrl: string; qr: string; payinId: string }> {
  const { id, url } = await stage.link({ rail: 'BRE_B', ...customer('1000000001') });
  const page = await stage.payer();
  await page.goto(url);
  await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
  await heading(page, 'Pago recibido');
  await page.getByRole('link', { name: 'Ver comprobante' }).click();
  await heading(page, 'Comprobante de pago');
  const image = await page.locator('.receipt-qr').getAttribute('src');
  const [attempt] = await stage.attempts(id);
  return { page, receiptUrl: page.url(), qr: readQr(image ?? ''), payinId: attempt?.id ?? '' };
}

function realFacts(): ReceiptFacts {
  const decoded = decodeReceipt(text, decodeBase32);
  if (!decoded) throw new Error('the QR code contains no receipt');
  return decoded.facts;
}

/** The real signature under changed facts. */
function changed(changes: Partial<ReceiptFacts>): string {
  const signature = (decodeBase32(text) ?? new Uint8Array()).slice(-64);
  return encodeBase32(Buffer.concat([encodeFacts({ ...realFacts(), ...changes }), signature]));
}

function changedCharacter(from: string, at: number): string {
  return from.slice(0, at) + (from[at] === '0' ? '8' : '0') + from.slice(at + 1);
}

/** The real facts, signed with another key. */
function signedBy(
  current: ReturnType<typeof signingKeyFromSeed>,
  changes: Partial<ReceiptFacts> = {},
): string {
  return new ReceiptKeys({ current, retired: [], revokedIds: [] }).sign({ ...realFacts(), ...changes });
}

function verifyUrl(receipt = '', path = '/verificar'): string {
  return `${new URL(receiptUrl).origin}${path}${receipt && `#${receipt}`}`;
}

/** Opens the page with a receipt and waits for its answer. */
async function verdict(page: Page, url: string): Promise<{ verdict: string | null; shown: string }> {
  await page.goto('about:blank');
  await page.goto(url);
  return answer(page);
}

async function answer(page: Page): Promise<{ verdict: string | null; shown: string }> {
  const result = page.locator('#result[data-verdict]');
  await result.waitFor();
  return { verdict: await result.getAttribute('data-verdict'), shown: (await result.textContent()) ?? '' };
}

async function online(page: Page): Promise<void> {
  await page.locator('#result[data-state=confirmed]').waitFor();
}

describe('/verificar accepts', () => {
  it('a real receipt by its QR code, marked as a test, with its facts', async () => {
    const page = await stage.payer();
    expect((await verdict(page, qr)).verdict).toBe('authentic');
    await online(page);
    const { shown } = await answer(page);
    for (const fact of [
      'Comprobante de PRUEBA',
      'el dinero no se ha devuelto',
      '$\u00a049.800 COP',
      'Tienda Aurora',
    ])
      expect(shown).toContain(fact);
    await screen(page, 'verify-authentic');
  });

  it('a real receipt on a page without axe violations, in both color schemes', async () => {
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await stage.payer({ colorScheme });
      await page.goto(qr);
      await online(page);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
    }
  });

  it('a real receipt by its typed code and by its pasted address, in English too', async () => {
    const page = await stage.payer();
    await page.goto(verifyUrl('', '/verify'));
    await page.getByLabel('Code or address').fill(realFacts().code.toLowerCase());
    await page.getByRole('button', { name: 'Check' }).click();
    await online(page);
    expect((await answer(page)).shown).toContain('TEST receipt');
    await page.goto(verifyUrl());
    await page.getByLabel('Código o dirección').fill(qr);
    await page.getByRole('button', { name: 'Verificar' }).click();
    await online(page);
    expect((await answer(page)).verdict).toBe('authentic');
  });

  it('a receipt signed by a retired key', async () => {
    const page = await stage.payer();
    expect((await verdict(page, verifyUrl(signedBy(RETIRED)))).verdict).toBe('authentic');
    await online(page);
  });
});

describe('/verificar refuses', () => {
  let page: Page;
  beforeAll(async () => {
    page = await stage.payer();
  });

  it.each([
    ['a changed amount', () => changed({ amountInCents: 99_980_000n }), 'altered', 'alguien los cambió'],
    ['a changed shop', () => changed({ shop: 'Otra tienda' }), 'altered', 'Comprobante falso'],
    ['a changed QR code', () => changedCharacter(text, text.length - 20), 'altered', 'Comprobante falso'],
    ['a cut QR code', () => text.slice(0, -10), 'unreadable', 'Esto no es un comprobante'],
    ['an unknown key', () => signedBy(STRANGER), 'unknown_key', 'no firmó este comprobante'],
    ['a revoked key', () => signedBy(REVOKED), 'revoked_key', 'fue anulada'],
    [
      'a retired key after its last day',
      () => signedBy(RETIRED, { signedAt: new Date('2100-01-02T00:00:00Z') }),
      'expired_key',
      'Comprobante falso',
    ],
  ])('%s', async (_name, forge, expected, words) => {
    const { verdict: found, shown } = await verdict(page, verifyUrl(forge()));
    expect(found).toBe(expected);
    expect(shown).toContain(words);
    expect(shown).not.toContain('Tienda Aurora');
  });

  it('a code that does not exist', async () => {
    await page.goto(verifyUrl());
    await page.getByLabel('Código o dirección').fill('0000-0000-0000');
    await page.getByRole('button', { name: 'Verificar' }).click();
    expect((await answer(page)).shown).toContain('No existe un comprobante con este código');
  });
});

describe('/verificar offline', () => {
  let context: BrowserContext;
  let page: Page;

  beforeAll(async () => {
    page = await stage.payer();
    context = page.context();
    await page.goto(verifyUrl());
    await page.locator('html[data-offline=ready]').waitFor();
    await context.setOffline(true);
  });

  it('accepts a real receipt and says when it was signed and what cannot be seen', async () => {
    const { verdict: found, shown } = await verdict(page, qr);
    expect(found).toBe('authentic');
    expect(shown).toMatch(/Se firmó el \d+ de noviembre de 2026/);
    expect(shown).toContain('Sin conexión no se puede ver si el dinero se devolvió');
    await screen(page, 'verify-offline');
  });

  it('refuses a changed amount and a revoked key', async () => {
    expect((await verdict(page, verifyUrl(changed({ amountInCents: 1n })))).verdict).toBe('altered');
    expect((await verdict(page, verifyUrl(signedBy(REVOKED)))).verdict).toBe('revoked_key');
  });
});

describe('money that was returned', () => {
  it('is told online, while the signature stays authentic', async () => {
    const { qr: its, payinId } = await payAndOpenReceipt();
    await stage.stack.database.query('update caudal.payins set chargeback_at = caudal.now() where id = $1', [
      payinId,
    ]);
    const page = await stage.payer();
    await page.goto(its);
    await page.locator('#result[data-state=returned]').waitFor();
    expect((await answer(page)).shown).toContain('El dinero de este pago se devolvió');
    await screen(page, 'verify-returned');
  });
});

describe('the receipt', () => {
  it('is the first button of the confirmed screen and is visible without scrolling', async () => {
    const { url } = await stage.link({ rail: 'BRE_B', ...customer('1000000001') });
    const page = await stage.payer({ viewport: { width: 360, height: 640 } });
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, 'Pago recibido');
    const top = async (name: RegExp) =>
      (await page.getByRole('link', { name }).boundingBox())?.y ?? Number.NaN;
    expect(await top(/Ver comprobante/)).toBeLessThan(await top(/Volver a/));
    expect(await top(/Ver comprobante/)).toBeLessThan(640 - 48);
  });

  it('prints with PAGADO, the code and the test mark, and without buttons', async () => {
    const page = await stage.payer();
    await page.goto(receiptUrl);
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByText('PAGADO', { exact: true }).isVisible()).toBe(true);
    expect(await page.getByText('COMPROBANTE DE PRUEBA').isVisible()).toBe(true);
    expect(await page.locator('.receipt-qr').isVisible()).toBe(true);
    expect(await page.getByRole('link', { name: 'Descargar PDF' }).isVisible()).toBe(false);
    await screen(page, 'receipt-print');
  });

  it('caused no script error and no violation of the content security policy', () => {
    // Browsers log the requests that fail while they are offline.
    expect(stage.browserErrors.filter((error) => !error.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
  });
});
