import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { axe } from './axe.ts';
import { DESKTOP, screenWidths } from './browser.ts';
import { SCREENS } from './checkout-screens.ts';
import { CheckoutStage, customer } from './checkout-stage.ts';

/** Maximum size of the first load of a page, including all resources. */
const MAX_BYTES = 30 * 1024;

let stage: CheckoutStage;
beforeAll(async () => {
  // With a contact of the operator, pages without a shop have help too.
  stage = await CheckoutStage.open({ CAUDAL_OPERATOR_SUPPORT: 'ayuda@operador.example' });
});
afterAll(() => stage?.close());

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await axe(page).analyze();
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`));
}

/** Interactive elements below the minimum size; links inside a sentence are exempt. */
const TOO_SMALL = `[...document.querySelectorAll('a,button,input,select,summary,label.choice')].filter((each) => {
  const box = (each.closest('label.choice') ?? each).getBoundingClientRect();
  return box.width > 0 && !each.closest('.wrong') && (box.height < 44 || box.width < 24);
}).map((each) => each.outerHTML.slice(0, 100))`;

/** Checks the size of a first load and that the page requests no other hosts. */
async function checkSize(name: string, page: Page): Promise<void> {
  const context = await stage.browser.newContext({ storageState: await page.context().storageState() });
  const fresh = await context.newPage();
  const session = await context.newCDPSession(fresh);
  let bytes = 0;
  const hosts = new Set<string>();
  // The page that opens the bank leaves for it after a moment; what the bank's page loads does not count.
  let hasLeft = false;
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    if (!hasLeft) bytes += encodedDataLength;
  });
  fresh.on('request', (request) => {
    hasLeft ||= request.isNavigationRequest() && hosts.size > 0;
    if (!hasLeft && !request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
  });
  await fresh.goto(page.url(), { waitUntil: 'load' });
  console.log(`U2: ${name} ${bytes} bytes`);
  expect(bytes).toBeGreaterThan(1000);
  expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
  expect([...hosts]).toEqual([new URL(page.url()).host]);
  await context.close();
}

/** Radio buttons, check boxes and hidden inputs show no letters. */
const LETTER_SIZES = `[...document.querySelectorAll('body *:not([type=radio],[type=checkbox],[type=hidden])')]
  .map((each) => parseFloat(getComputedStyle(each).fontSize))`;

/** The text spacing of WCAG 1.4.12. */
const TEXT_SPACING = `document.documentElement.style.fontSize = '';
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('*{line-height:1.5!important;letter-spacing:.12em!important;word-spacing:.16em!important}p{margin-bottom:2em!important}');
  document.adoptedStyleSheets = [sheet];`;

describe.each(SCREENS)('screen $name', ({ name, open, close, answersForm }) => {
  afterEach(() => close?.(stage));

  it('has no axe violations in both languages, color schemes and device sizes, and loads at most 30 KB', async () => {
    for (const [locale, viewport] of [
      ['es-CO', { width: 360, height: 740 }],
      ['en-US', DESKTOP],
    ] as const) {
      const page = await stage.payer({ locale, viewport, reducedMotion: 'reduce' });
      await open(stage, page);
      expect(await page.locator('html').getAttribute('lang')).toBe(locale === 'es-CO' ? 'es-CO' : 'en');
      expect(await page.locator('.card > section .help a').count()).toBeGreaterThan(0);
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(page)).toEqual([]);
        await screenWidths(page, `${name}-${locale}-${colorScheme}`);
      }
      if (locale === 'es-CO' && !answersForm) await checkSize(name, page);
      await page.context().close();
      await close?.(stage);
    }
  });

  it('fits 320 pixels, has targets of 44 pixels, and has no animations with reduced motion (M13: also with large letters)', async () => {
    const page = await stage.payer({ viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' });
    await open(stage, page);
    const widthAt = async (width: number) => {
      await page.setViewportSize({ width, height: 640 });
      return page.evaluate('document.documentElement.scrollWidth');
    };
    expect(await widthAt(320)).toBeLessThanOrEqual(320);
    expect(await page.evaluate(TOO_SMALL)).toEqual([]);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    // A phone at 200 %.
    expect(await widthAt(180)).toBeLessThanOrEqual(180);
    const before = (await page.evaluate(LETTER_SIZES)) as number[];
    await page.evaluate(`document.documentElement.style.fontSize = '32px'`);
    const after = (await page.evaluate(LETTER_SIZES)) as number[];
    expect(after).toEqual(before.map((size) => 2 * size));
    expect(await widthAt(320)).toBeLessThanOrEqual(320);
    await page.evaluate(TEXT_SPACING);
    expect(await widthAt(320)).toBeLessThanOrEqual(320);
    await page.context().close();
  });
});

describe('a payer with a high contrast theme', () => {
  it('S12: sees the frame of every button and of the chosen bank', async () => {
    const page = await stage.payer({ forcedColors: 'active' });
    await page.goto((await stage.link({ rail: 'BRE_B', ...customer() })).url);
    const frame = `(() => { const { borderTopWidth, borderTopColor, backgroundColor } = getComputedStyle(document.querySelector('.button'));
      return borderTopWidth === '1px' && borderTopColor !== backgroundColor })()`;
    expect(await page.evaluate(frame)).toBe(true);
    await page.goto(`${(await stage.link()).url}?m=PSE`);
    expect(await page.evaluate(frame)).toBe(true);
    await page.keyboard.press('Tab');
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid');
  });
});

describe('the QR code', () => {
  it('S8: has modules of three whole pixels and fits a narrow phone', async () => {
    const page = await stage.payer({ viewport: { width: 320, height: 640 } });
    await page.goto((await stage.link({ rail: 'BRE_B', ...customer() })).url);
    await page.getByRole('button', { name: 'Pagar con Bre-B' }).click();
    const qr = page.locator('.qr:visible');
    await qr.evaluate((image) => (image as unknown as { decode: () => Promise<void> }).decode());
    const [shown, natural] = (await qr.evaluate((image) => [
      image.getBoundingClientRect().width,
      (image as unknown as { naturalWidth: number }).naturalWidth,
    ])) as [number, number];
    // The image has four pixels per module.
    expect(shown / (natural / 4)).toBe(3);
  });
});

describe('payer with only a keyboard', () => {
  it('gets from the link to the key, and changes are announced to screen readers', async () => {
    const { url } = await stage.link({ ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    const press = async (what: string) => {
      for (let count = 0; count < 40; count += 1) {
        await page.keyboard.press('Tab');
        const focused = String(await page.evaluate('document.activeElement?.textContent ?? ""'));
        if (focused.includes(what)) {
          // The focus must be visible.
          expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).not.toBe(
            'none',
          );
          return page.keyboard.press('Enter');
        }
      }
      throw new Error(`${what} cannot be reached by keyboard`);
    };
    await press('Bre-B');
    await page.waitForURL(/m=BRE_B/);
    await press('Pagar con Bre-B');
    await page.locator('.waiting').waitFor();
    await stage.payKey(page);
    await page.locator('#announcer', { hasText: 'Pago recibido' }).waitFor({ state: 'attached' });
    await page.context().close();
  });
});

describe('payer with only a keyboard on the list of banks', () => {
  it('the focused bank is never covered by the button that stays at the bottom', async () => {
    const page = await stage.payer({ viewport: { width: 360, height: 640 } });
    await page.goto(`${(await stage.link()).url}?m=PSE`);
    await page.locator('[name=bank]').first().focus();
    const isCovered = `(() => { const bank = document.activeElement.closest('.choice').getBoundingClientRect();
      return bank.bottom > document.querySelector('.stays').getBoundingClientRect().top })()`;
    for (let count = 0; count < 15; count += 1) {
      await page.keyboard.press('ArrowDown');
      expect([count, await page.evaluate(isCovered)]).toEqual([count, false]);
    }
    await page.context().close();
  });
});

describe('all screens above', () => {
  it('cause no script errors and no content security policy violations', () => {
    expect(stage.browserErrors).toEqual([]);
  });
});
