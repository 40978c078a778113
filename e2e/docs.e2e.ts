import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { AxeBuilder } from '@axe-core/playwright';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../server/test/harness/stack.ts';
import { DESKTOP, openBrowser, PHONE, screen } from './browser.ts';

const BUILD = fileURLToPath(new URL('../docs/build.ts', import.meta.url));
const LIST = new URL('../docs/dist/site.json', import.meta.url);

let stack: Stack;
let browser: Browser;
let address: string;
let slugs: readonly string[];
const browserErrors: string[] = [];
const externalRequests = new Set<string>();

beforeAll(async () => {
  const build = spawnSync(process.execPath, [BUILD], { encoding: 'utf8' });
  if (build.status !== 0) throw new Error(`${build.stdout}${build.stderr}`);
  const { files } = JSON.parse(readFileSync(LIST, 'utf8')) as { files: Record<string, { type: string }> };
  slugs = Object.keys(files).filter((each) => files[each]?.type.startsWith('text/html'));
  [stack, browser] = await Promise.all([startStack(), openBrowser()]);
  address = stack.apis[0]?.url ?? '';
}, 120_000);
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
});

/** A browser that records errors and requests to other origins. */
async function reader(options: Parameters<Browser['newContext']>[0]): Promise<[BrowserContext, Page]> {
  const context = await browser.newContext({ reducedMotion: 'reduce', locale: 'en-US', ...options });
  const page = await context.newPage();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !/status of 404/.test(message.text()))
      browserErrors.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => browserErrors.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url());
    if (protocol !== 'data:' && origin !== address) externalRequests.add(request.url());
  });
  return [context, page];
}

/** Parts shared by all pages, including colors, are only checked on the sample pages (`KINDS`). */
async function violations(page: Page, thorough: boolean): Promise<string[]> {
  const whole = new AxeBuilder({ page });
  const axe = thorough
    ? whole
    : whole.exclude('nav.sidebar').exclude('.expressive-code').disableRules('color-contrast');
  const { violations: found } = await axe.analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${page.url()} ${id}: ${node.html.slice(0, 160)}`),
  );
}

/** One page of each kind. */
const KINDS = [
  '',
  'guides/quickstart',
  'guides/payment-links',
  'concepts/states',
  'api/balance',
  'reference/test-values',
  'reference/error-codes',
  'errors',
  'errors/reference_taken',
  'es/errors/reference_taken',
  '404',
];

/** Pages of error codes differ only in their text. */
function isErrorPage(slug: string): boolean {
  return /^(?:es\/)?errors\//.test(slug);
}

function screenshotName(slug: string, scheme: string): string {
  return `docs-${slug === '' ? 'index' : slug.replaceAll('/', '-')}-${scheme}`;
}

describe('every page', () => {
  it.each([
    ['a phone', PHONE, 'light'],
    ['a desktop', DESKTOP, 'dark'],
  ] as const)('fits the width of %s', { timeout: 300_000 }, async (_, viewport, colorScheme) => {
    const [context, page] = await reader({ viewport, colorScheme });
    const wide: string[] = [];
    for (const slug of slugs) {
      await page.goto(`${address}/docs/${slug}`, { waitUntil: 'load' });
      const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
      if (width > viewport.width) wide.push(`${slug}: ${width}`);
      await screen(page, screenshotName(slug, colorScheme));
    }
    expect(wide).toEqual([]);
    await context.close();
  });

  it('has no axe violations', { timeout: 300_000 }, async () => {
    const [context, page] = await reader({ viewport: PHONE, colorScheme: 'light' });
    const found: string[] = [];
    for (const slug of slugs.filter((each) => !isErrorPage(each) && !KINDS.includes(each))) {
      await page.goto(`${address}/docs/${slug}`, { waitUntil: 'load' });
      found.push(...(await violations(page, false)));
    }
    expect(found).toEqual([]);
    await context.close();
  });

  it.each([
    ['a phone in light mode', PHONE, 'light'],
    ['a desktop in dark mode', DESKTOP, 'dark'],
  ] as const)(
    'of each kind has no axe violations on %s',
    { timeout: 300_000 },
    async (_, viewport, colorScheme) => {
      const [context, page] = await reader({ viewport, colorScheme });
      const found: string[] = [];
      for (const slug of KINDS) {
        await page.goto(`${address}/docs/${slug}`, { waitUntil: 'load' });
        found.push(...(await violations(page, true)));
        await screen(page, screenshotName(slug, colorScheme));
      }
      expect(found).toEqual([]);
      await context.close();
    },
  );
});

describe('search', () => {
  it('finds a page without requests to other origins', async () => {
    const [context, page] = await reader({ viewport: DESKTOP });
    await page.goto(`${address}/docs`);
    await page.keyboard.press('Control+k');
    await page.locator('.pagefind-ui__search-input').fill('idempotency');
    const first = page.locator('.pagefind-ui__result-link').first();
    await first.waitFor();
    expect(await page.locator('.pagefind-ui__result-link').allTextContents()).toContain('Idempotency');
    await screen(page, 'docs-search');
    await page.getByRole('link', { name: 'Idempotency', exact: true }).first().click();
    await page.waitForURL(/\/docs\/concepts\/idempotency/);
    await context.close();
  });

  it('finds Spanish words on Spanish pages', async () => {
    const [context, page] = await reader({ viewport: PHONE, locale: 'es-CO' });
    await page.goto(`${address}/docs/es/errors`);
    await page.getByRole('button', { name: 'Buscar' }).click();
    await page.locator('.pagefind-ui__search-input').fill('referencia');
    await page.locator('.pagefind-ui__result-link').first().waitFor();
    expect(await page.locator('.pagefind-ui__result-link').allTextContents()).toContain(
      'Referencia ya usada',
    );
    await context.close();
  });
});

describe('reader', () => {
  it('copies a command with one click', async () => {
    const [context, page] = await reader({
      viewport: DESKTOP,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await page.goto(`${address}/docs/guides/quickstart`);
    const block = page.locator('figure', { hasText: 'npm run dev' }).first();
    await block.hover();
    await block.getByRole('button').click();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('npm run dev');
    await context.close();
  });

  it('selects dark mode, which persists on other pages', async () => {
    const [context, page] = await reader({ viewport: DESKTOP, colorScheme: 'light' });
    await page.goto(`${address}/docs`);
    await page.locator('starlight-theme-select select').first().selectOption('dark');
    await page.goto(`${address}/docs/api`);
    expect(await page.locator('html').getAttribute('data-theme')).toBe('dark');
    await context.close();
  });

  it('with a Spanish browser gets error pages in Spanish, and English on request', async () => {
    const [context, page] = await reader({ viewport: PHONE, locale: 'es-CO' });
    await page.goto(`${address}/docs/errors/reference_taken`);
    expect(await page.locator('html').getAttribute('lang')).toBe('es');
    expect(await page.locator('h1').textContent()).toBe('Referencia ya usada');
    await page.getByRole('link', { name: 'In English' }).click();
    expect(await page.locator('h1').textContent()).toBe('Reference already used');
    await context.close();
  });

  it('without JavaScript can read and navigate', async () => {
    const [context, page] = await reader({ viewport: PHONE, javaScriptEnabled: false });
    await page.goto(`${address}/docs`);
    await page.getByRole('link', { name: 'quickstart', exact: true }).click();
    expect(await page.locator('h1').textContent()).toBe('Quickstart');
    await context.close();
  });
});

describe('all tests above', () => {
  it('cause no browser errors and no requests to other origins', () => {
    expect(browserErrors).toEqual([]);
    expect([...externalRequests]).toEqual([]);
  });
});
