import { AxeBuilder } from '@axe-core/playwright';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DESKTOP, screen } from './browser.ts';
import { SCREENS } from './checkout-screens.ts';
import { CheckoutStage, customer } from './checkout-stage.ts';

/** What a page may weigh at its first load, all of it. */
const MOST_BYTES = 30 * 1024;

let stage: CheckoutStage;
beforeAll(async () => {
  stage = await CheckoutStage.open();
});
afterAll(() => stage?.close());

async function violations(page: Page): Promise<string[]> {
  const { violations: found } = await new AxeBuilder({ page }).analyze();
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 120)}`));
}

/** A page that has ended goes back to the shop after five seconds, which is too soon to look at it closely. */
const STAYS =
  'const later = setTimeout; window.setTimeout = (what, ms) => (ms === 5000 ? 0 : later(what, ms));';

/** Links inside a sentence excepted, as everywhere. */
const SMALL = `[...document.querySelectorAll('a,button,input,select,summary,label.choice')].filter((each) => {
  const box = (each.closest('label.choice') ?? each).getBoundingClientRect();
  return box.width > 0 && !each.closest('.wrong') && (box.height < 44 || box.width < 24);
}).map((each) => each.outerHTML.slice(0, 100))`;

/** The page as somebody loads it for the first time: all of it counts, and nobody else is asked. */
async function weigh(name: string, page: Page): Promise<void> {
  // The answer to a form that was not taken has no address of its own.
  if (name === 'details-wrong') return;
  const context = await stage.browser.newContext({ storageState: await page.context().storageState() });
  const fresh = await context.newPage();
  await fresh.addInitScript(STAYS);
  const session = await context.newCDPSession(fresh);
  let bytes = 0;
  const hosts = new Set<string>();
  await session.send('Network.enable');
  session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength));
  fresh.on('request', (request) => {
    if (!request.url().startsWith('data:')) hosts.add(new URL(request.url()).host);
  });
  await fresh.goto(page.url(), { waitUntil: 'load' });
  await fresh.locator('footer').waitFor();
  console.log(`U2: ${name} ${bytes} bytes`);
  expect(bytes).toBeGreaterThan(1000);
  expect(bytes).toBeLessThanOrEqual(MOST_BYTES);
  expect([...hosts]).toEqual([new URL(page.url()).host]);
  await context.close();
}

describe.each(SCREENS)('the screen $name', ({ name, open }) => {
  it('has nothing that axe finds, in both languages and schemes, on a phone and a desktop, and weighs at most 30 KB', async () => {
    for (const [locale, viewport] of [
      ['es-CO', { width: 360, height: 740 }],
      ['en-US', DESKTOP],
    ] as const) {
      const page = await stage.payer({ locale, viewport, reducedMotion: 'reduce' });
      await page.addInitScript(STAYS);
      await open(stage, page);
      expect(await page.locator('html').getAttribute('lang')).toBe(locale === 'es-CO' ? 'es-CO' : 'en');
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(page)).toEqual([]);
        await screen(page, `${name}-${locale}-${colorScheme}`);
      }
      if (locale === 'es-CO') await weigh(name, page);
      await page.context().close();
    }
  });

  it('fits 320 pixels, has targets of 44, and moves nothing when asked not to', async () => {
    const page = await stage.payer({ viewport: { width: 320, height: 640 }, reducedMotion: 'reduce' });
    await open(stage, page);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    expect(await page.evaluate(SMALL)).toEqual([]);
    expect(await page.evaluate('document.getAnimations().length')).toBe(0);
    await page.context().close();
  });
});

describe('a payer with a keyboard only', () => {
  it('goes from the link to the key, and hears what changes', async () => {
    const { url } = await stage.link({ ...customer() });
    const page = await stage.payer();
    await page.goto(url);
    const press = async (what: string) => {
      for (let count = 0; count < 40; count += 1) {
        await page.keyboard.press('Tab');
        const focused = String(await page.evaluate('document.activeElement?.textContent ?? ""'));
        if (focused.includes(what)) {
          // Whoever cannot see where they are is lost.
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
    await page.locator('#said', { hasText: 'Pago recibido' }).waitFor({ state: 'attached' });
    await page.context().close();
  });
});

describe('all of that', () => {
  it('made no browser complain: no script failed, and the policy refused nothing', () => {
    expect(stage.complaints).toEqual([]);
  });
});
