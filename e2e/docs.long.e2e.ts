import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Stack, startStack } from '../server/test/harness/stack.ts';
import { axe } from './axe.ts';
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
  [stack, browser] = await Promise.all([
    startStack(),
    openBrowser(),
    promisify(execFile)(process.execPath, [BUILD]),
  ]);
  const { files } = JSON.parse(readFileSync(LIST, 'utf8')) as { files: Record<string, { type: string }> };
  slugs = Object.keys(files).filter((each) => files[each]?.type.startsWith('text/html'));
  address = stack.apis[0]?.url ?? '';
});
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

/** Parts shared by all pages, including colors, are only checked on the sample pages (`KINDS`). */
async function violations(page: Page, slug: string): Promise<string[]> {
  const scan = KINDS.includes(slug)
    ? axe(page)
    : axe(page).exclude('nav.sidebar').exclude('.expressive-code').disableRules('color-contrast');
  const { violations: found } = await scan.analyze();
  return found.flatMap(({ id, nodes }) => nodes.map((node) => `${slug} ${id}: ${node.html.slice(0, 160)}`));
}

async function tooWide(page: Page, slug: string): Promise<string[]> {
  const width = Number(await page.evaluate('document.documentElement.scrollWidth'));
  return width > (page.viewportSize()?.width ?? 0) ? [`${slug}: ${width}`] : [];
}

/** Pages of error codes differ only in their text. */
function isErrorPage(slug: string): boolean {
  return /^(?:es\/)?errors\//.test(slug);
}

function screenshotName(slug: string, scheme: string): string {
  return `docs-${slug === '' ? 'index' : slug.replaceAll('/', '-')}-${scheme}`;
}

/** Opens each page in one of two tabs, which take the next page in turn: a tab mostly waits for its browser. */
async function visit(
  addresses: readonly string[],
  [viewport, colorScheme]: readonly [typeof PHONE, 'light' | 'dark'],
  check: (page: Page, slug: string) => Promise<string[]>,
): Promise<string[]> {
  const found: string[] = [];
  const next = addresses.values();
  const tab = async () => {
    const [context, page] = await reader({ viewport, colorScheme });
    for (const slug of next) {
      await page.goto(`${address}/docs/${slug}`, { waitUntil: 'load' });
      found.push(...(await check(page, slug)));
      await screen(page, screenshotName(slug, colorScheme));
    }
    await context.close();
  };
  await Promise.all([tab(), tab()]);
  return found;
}

describe('every page', () => {
  it('fits the width of a phone and of a desktop', { timeout: 300_000 }, async () => {
    const found = await visit(slugs, [PHONE, 'light'], async (page, slug) => {
      const onPhone = await tooWide(page, slug);
      await page.setViewportSize(DESKTOP);
      const onDesktop = await tooWide(page, slug);
      await page.setViewportSize(PHONE);
      return [...onPhone, ...onDesktop];
    });
    expect(found).toEqual([]);
  });

  it('has no axe violations', { timeout: 300_000 }, async () => {
    const written = slugs.filter((each) => !isErrorPage(each) && !KINDS.includes(each));
    expect(await visit(written, [PHONE, 'light'], violations)).toEqual([]);
  });

  it.each([
    ['a phone in light mode', PHONE, 'light'],
    ['a desktop in dark mode', DESKTOP, 'dark'],
  ] as const)(
    'of each kind has no axe violations on %s and fits its width',
    { timeout: 300_000 },
    async (_, viewport, colorScheme) => {
      const check = async (page: Page, slug: string) => [
        ...(await tooWide(page, slug)),
        ...(await violations(page, slug)),
      ];
      expect(await visit(KINDS, [viewport, colorScheme], check)).toEqual([]);
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
