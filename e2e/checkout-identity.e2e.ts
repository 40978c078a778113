import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../scripts/testing/patience.ts';
import { logoFile } from '../server/test/harness/logo-file.ts';
import { ShopDriver } from '../server/test/harness/shop-driver.ts';
import { DESKTOP, PHONE, screen } from './browser.ts';
import { CheckoutStage } from './checkout-stage.ts';

const folder = mkdtempSync(join(tmpdir(), 'caudal-logo-'));
let stage: CheckoutStage;
let shop: ShopDriver;
beforeAll(async () => {
  stage = await CheckoutStage.open({
    CAUDAL_OPERATOR_NAME: 'Pagos del Valle',
    CAUDAL_OPERATOR_LEGAL_NAME: 'Pagos del Valle S.A.',
    CAUDAL_OPERATOR_TAX_ID: '890903938-8',
    CAUDAL_OPERATOR_TERMS_URL: 'https://pagos.example/terminos',
    CAUDAL_OPERATOR_PRIVACY_URL: 'https://pagos.example/privacidad',
  });
  shop = await ShopDriver.create(
    stage.stack,
    '--support',
    'ayuda@aurora.example, 300 123 4567',
    '--legal-name',
    'Tienda Aurora S.A.S.',
    '--tax-id',
    '900123456-8',
  );
  const logo = join(folder, 'logo.png');
  writeFileSync(logo, await logoFile(300, 150));
  await shop.update('--logo', logo, '--verified', 'yes');
});
afterAll(async () => {
  await stage?.close();
  rmSync(folder, { recursive: true, force: true });
});

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).analyze();
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`));
}

describe('checkout of a shop with a recorded identity', () => {
  it('loads the logo from its own address and shows who charges', async () => {
    const page = await stage.payer();
    await page.goto((await shop.link({ description: 'Pedido 7' })).paymentLinkUrl);
    await expect
      .poll(() => page.evaluate("document.querySelector('header img.disc').naturalWidth"), {
        timeout: PATIENCE_MS,
      })
      .toBe(96);
    expect(await page.locator('header .legal').textContent()).toBe(
      'Cobra: Tienda Aurora S.A.S. · NIT 900.123.456-8',
    );
    await page.getByText('Opera esta página: Pagos del Valle S.A. · NIT 890.903.938-8').waitFor();
    await page.getByRole('link', { name: 'Escriba por WhatsApp' }).waitFor();
    await page.context().close();
  });

  it.each([
    ['es-CO', PHONE, 'light'],
    ['es-CO', { width: 320, height: 640 }, 'dark'],
    ['en-US', DESKTOP, 'light'],
    ['en-US', DESKTOP, 'dark'],
  ] as const)(
    'answers whether the charge is real, accessibly, in %s at %o with a %s scheme',
    async (locale, viewport, colorScheme) => {
      const page = await stage.payer({ locale, viewport, colorScheme, reducedMotion: 'reduce' });
      await page.goto((await shop.link({ description: 'Pedido 7' })).paymentLinkUrl);
      await page.getByText(locale === 'es-CO' ? '¿Es real este cobro?' : 'Is this charge real?').click();
      const verified = locale === 'es-CO' ? /verificados por Pagos del Valle/ : /verified by Pagos del Valle/;
      await page.getByText(verified).waitFor();
      expect(await violations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width);
      await screen(page, `identity-${locale}-${colorScheme}`);
      await page.context().close();
    },
  );
});

describe('checkout of a suspended shop', () => {
  it('offers nothing to tap but the language and the operator, accessibly', async () => {
    const suspended = await ShopDriver.create(stage.stack);
    const { paymentLinkUrl } = await suspended.link();
    await suspended.suspend();
    const page = await stage.payer({ reducedMotion: 'reduce' });
    await page.goto(paymentLinkUrl);
    await page.getByRole('heading', { name: 'Este comercio no puede recibir pagos' }).waitFor();
    expect(await page.getByRole('link').allTextContents()).toEqual(['English', 'Términos', 'Privacidad']);
    expect(await page.getByRole('button').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
    await screen(page, 'suspended-es-CO');
    await page.context().close();
  });
});

describe('pages above', () => {
  it('cause no script errors and no content security policy violations', () => {
    expect(stage.browserErrors).toEqual([]);
  });
});
