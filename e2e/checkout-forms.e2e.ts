import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { COLLECTOR } from '../simulator/src/breb/directory.ts';
import { CheckoutStage, customer, heading, typeDetails } from './checkout-stage.ts';

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());
// Open pages keep polling and slow the next tests down.
afterEach(() => Promise.all(stage.browser.contexts().map((context) => context.close())));

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

/** The bounding box of the first visible match, relative to the viewport. */
async function box(page: Page, selector: string) {
  const visible = page.locator(selector).locator('visible=true').first();
  // A pushed screen may replace the element at this moment.
  const found = await vi.waitUntil(() => visible.boundingBox(), { timeout: PATIENCE_MS });
  return { ...found, bottom: found.y + found.height, right: found.x + found.width };
}

async function openKey(page: Page, changes: Record<string, unknown> = {}): Promise<string> {
  const { url } = await stage.link({ rail: 'BRE_B', ...changes });
  await page.goto(url);
  await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
  return (await page.locator('[data-key]').getAttribute('data-key')) ?? '';
}

describe('the key screen', () => {
  it('S4: comes first, without personal data', async () => {
    const { id, url } = await stage.link();
    const page = await stage.payer();
    await page.goto(url);
    await page.getByRole('link', { name: /Bre-B/ }).click();
    expect(await page.locator('input:not([type=hidden])').count()).toBe(0);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await heading(page, 'Pague con esta llave');
    expect(await stage.attempts(id)).toHaveLength(1);
  });

  it('S5: names the exact amount, copies it as digits, and names the recipient in the directory', async () => {
    const page = await stage.payer({ permissions: ['clipboard-read', 'clipboard-write'] });
    const key = await openKey(page);
    await page.getByText('Escriba el valor exacto: $ 49.800').waitFor();
    await page.getByRole('button', { name: 'Copiar valor' }).click();
    await page.getByRole('button', { name: 'Valor copiado' }).waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('49800');
    await page.getByRole('button', { name: 'Copiar llave' }).click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(key);
    await page.getByText(`Verifique que el destinatario sea ${COLLECTOR.person.names}`).waitFor();
  });

  it('S10: a key selected by hand has no spaces', async () => {
    const page = await stage.payer();
    const key = await openKey(page);
    const selected = await page.evaluate(`(() => {
      getSelection().selectAllChildren(document.querySelector('[data-key]'));
      return getSelection().toString();
    })()`);
    expect(selected).toBe(key);
  });

  it('S9: a QR code can be saved and shared, and a returning payer finds it unchanged', async () => {
    const page = await stage.payer();
    await page.addInitScript(`navigator.canShare = () => true; navigator.share = async ({ files, text }) => {
      window.shared = [files[0].type, files[0].size > 500, text].join(' ');
    }`);
    const key = await openKey(page);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Guardar QR' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('bre-b.png');
    await page.getByRole('button', { name: 'Compartir QR' }).click();
    await expect
      .poll(() => page.evaluate('window.shared'), { timeout: PATIENCE_MS })
      .toBe(`image/png true Pague $\u00a049.800 a Tienda Aurora con la llave Bre-B ${key}`);
    expect(await page.locator('.qr').isVisible()).toBe(true);
  });

  it('S9: is chosen by pointer, not by width', async () => {
    const tablet = await stage.payer({
      viewport: { width: 740, height: 360 },
      isMobile: true,
      hasTouch: true,
    });
    await openKey(tablet);
    await heading(tablet, 'Pague con esta llave');
    const narrow = await stage.payer({
      viewport: { width: 400, height: 700 },
      isMobile: false,
      hasTouch: false,
    });
    await openKey(narrow);
    await heading(narrow, 'Escanee con la app de su banco');
    expect(await narrow.title()).toMatch(/^Pague con Bre-B/);
    expect(await narrow.locator('.steps li:visible').count()).toBe(4);
  });

  it('S11: without JavaScript shows no button that does nothing', async () => {
    const page = await stage.payer({ javaScriptEnabled: false });
    await openKey(page);
    expect(await page.getByRole('button', { name: /Copiar|Compartir/ }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'Guardar QR' }).isVisible()).toBe(true);
  });

  it('M4: shows key and countdown above the fold of a small phone, the key in one line', async () => {
    const page = await stage.payer({ viewport: { width: 360, height: 640 } });
    await openKey(page);
    expect((await box(page, '.time')).bottom).toBeLessThan(640);
    expect((await box(page, '[data-copy]')).bottom).toBeLessThan(640);
    const groups = await page.locator('.key span').all();
    const tops = await Promise.all(groups.map(async (group) => (await group.boundingBox())?.y));
    expect([groups.length, new Set(tops).size]).toEqual([5, 1]);
  });

  it('M7: offers another method only if there is one', async () => {
    const page = await stage.payer();
    await openKey(page);
    expect(await page.getByRole('button', { name: 'Usar otro medio' }).count()).toBe(0);
    const { url } = await stage.link({ amountInCents: 100_000 });
    await page.goto(url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    await page.locator('[data-key]').waitFor();
    expect(await page.getByRole('button', { name: 'Usar otro medio' }).count()).toBe(0);
  });
});

const DETAILS = '?m=PSE&bank=CO_NEQUI&personType=INDIVIDUAL';

describe('the form of the payer', () => {
  it('S3: keeps what was typed through the language switch and a reload, and nothing is in the URL', async () => {
    const { url } = await stage.link();
    const page = await stage.payer();
    await page.goto(url + DETAILS);
    await typeDetails(page);
    await page.locator('#idType').selectOption('PASSPORT');
    await page.reload();
    const values = async () => [
      await page.locator('#name').inputValue(),
      await page.locator('#idType').inputValue(),
      await page.locator('#email').inputValue(),
      await page.locator('#authorize').isChecked(),
    ];
    const typed = ['Luisa Fernanda Pardo', 'PASSPORT', 'luisa@correo.example', true];
    expect(await values()).toEqual(typed);
    await page.getByRole('button', { name: 'English' }).click();
    await heading(page, 'Your details');
    expect(await values()).toEqual(typed);
    expect(page.url()).not.toMatch(/Luisa|luisa|52123456/);
  });

  it('S3: keeps what was typed through the language switch without JavaScript', async () => {
    const { url } = await stage.link();
    const page = await stage.payer({ javaScriptEnabled: false });
    await page.goto(url + DETAILS);
    await typeDetails(page);
    await page.getByRole('button', { name: 'English' }).click();
    await heading(page, 'Your details');
    expect(await page.locator('#phone').inputValue()).toBe('310 555 0199');
    expect(await page.locator('#authorize').isChecked()).toBe(true);
  });

  it('S3: is filled again after a decline', async () => {
    const { url } = await stage.link({ rail: 'PSE' });
    const page = await stage.payer();
    await page.goto(url + DETAILS);
    await typeDetails(page, '1000000021');
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    // S7: no bank was asked, so no bank declined.
    await heading(page, 'No pudimos conectarnos con su banco');
    await page.getByRole('link', { name: 'Intentar de nuevo' }).click();
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    expect(await page.locator('#name').inputValue()).toBe('Luisa Fernanda Pardo');
    expect(await page.locator('#idNumber').inputValue()).toBe('1000000021');
    expect(await page.locator('#authorize').isChecked()).toBe(true);
  });

  it('M1, M5, M14: has the right keyboards, marks wrong fields, and titles the page as an error', async () => {
    const { url } = await stage.link();
    const page = await stage.payer();
    await page.goto(url + DETAILS);
    const keyboard = (id: string) => page.evaluate(`document.querySelector('${id}').inputMode`);
    expect([await keyboard('#idNumber'), await keyboard('#phone'), await keyboard('#email')]).toEqual([
      'numeric',
      'tel',
      'email',
    ]);
    await page.locator('#idType').selectOption('PASSPORT');
    expect(await keyboard('#idNumber')).toBe('text');
    await typeDetails(page);
    await page.locator('#name').fill('12345');
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await page.locator('.wrong').waitFor();
    expect(await page.title()).toMatch(/^Error: Sus datos/);
    const border = (id: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('${id}')).borderColor`);
    expect(await border('#name')).not.toBe(await border('#email'));
    await page.goto(url + DETAILS.replace('INDIVIDUAL', 'BUSINESS'));
    await heading(page, 'Datos de la empresa');
    expect([await keyboard('#idNumber'), await page.locator('#idType').count()]).toEqual(['numeric', 0]);
  });
});

describe('the choice of a bank', () => {
  it('M2: says visibly that no bank matches', async () => {
    const { url } = await stage.link();
    const page = await stage.payer();
    await page.goto(`${url}?m=PSE`);
    await page.getByLabel('Busque su banco').fill('suiza');
    await page.getByText('No encontramos ese banco.').waitFor();
    await page.getByLabel('Busque su banco').fill('nequi');
    await page.getByText('No encontramos ese banco.').waitFor({ state: 'detached' });
    expect(await page.locator('.banks .choice:visible').count()).toBe(1);
  });

  it('M11: shows the bank of the merchant alone, and the others on demand', async () => {
    const { url } = await stage.link({ rail: 'PSE', pse: { bank: 'CO_UALA' }, ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    expect(await page.locator('[name=bank]:visible').count()).toBe(1);
    expect(await page.locator('[name=bank]:checked').inputValue()).toBe('CO_UALA');
    await page.getByText('Cambiar banco').click();
    expect(await page.locator('[name=bank]:visible').count()).toBeGreaterThan(30);
    await page.getByText('Daviplata').click();
    await page.getByRole('button', { name: 'Continuar a Daviplata' }).waitFor();
  });
});

describe('a payer who sends too many forms', () => {
  it('S6: can retry with what was typed after a countdown', async () => {
    const { url } = await stage.link();
    const page = await stage.payer();
    await page.goto(url + DETAILS);
    await typeDetails(page, '1');
    await Promise.all(
      Array.from({ length: 20 }, () =>
        page.request.post(`${url}/begin`, {
          form: { method: 'PSE', bank: 'CO_NEQUI', personType: 'BUSINESS' },
        }),
      ),
    );
    await page.getByRole('button', { name: 'Continuar a Nequi' }).click();
    await heading(page, 'Demasiados intentos');
    const again = page.getByRole('button', { name: /^Reintentar en \d+:\d\d$/ });
    expect(await again.isDisabled()).toBe(true);
    expect(await page.locator('input[name=email]').getAttribute('value')).toBe('luisa@correo.example');
  });
});

describe('a cut link', () => {
  it('M9: leads to a page in both languages, where the complete link can be pasted', async () => {
    const { url } = await stage.link();
    const page = await stage.payer();
    await page.goto(new URL('/checkout/l', url).href);
    await heading(page, 'No encontramos este link de pago');
    await page.getByRole('link', { name: 'English' }).click();
    await heading(page, 'We cannot find this payment link');
    await page.getByLabel('Or paste the complete link here').fill(url);
    await page.getByRole('button', { name: 'Open' }).click();
    expect(await heading(page, 'How do you want to pay?')).toBe(true);
  });
});

describe('all flows above', () => {
  it('cause no script errors and no content security policy violations', () => {
    expect(stage.browserErrors).toEqual([]);
  });
});
