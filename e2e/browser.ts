import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';

const FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  // Chromium would emulate a GPU, which takes a third of the CPU time of a page.
  '--disable-software-rasterizer',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const PHONE = { width: 360, height: 740 };
export const DESKTOP = { width: 1280, height: 800 };

export function openBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
  return chromium.launch({ executablePath, args: FLAGS });
}

/** Saves a picture of the whole page, only with npm run e2e -- --screens. */
export async function screen(page: Page, name: string): Promise<void> {
  const folder = process.env['E2E_SCREENS'];
  const viewport = page.viewportSize();
  if (folder === undefined || viewport === null) return;
  mkdirSync(folder, { recursive: true });
  // The option `fullPage` would end the emulation of a touch screen, and with it the layout of phones.
  const needed = Number(await page.evaluate('document.documentElement.scrollHeight'));
  await page.setViewportSize({ width: viewport.width, height: Math.max(viewport.height, needed) });
  await page.screenshot({ path: join(folder, `${name}-${viewport.width}.png`) });
  await page.setViewportSize(viewport);
}

/** Saves a screenshot at each of the widths that the layout distinguishes, and restores the width. */
export async function screenWidths(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  if (process.env['E2E_SCREENS'] === undefined || before === null) return;
  for (const width of [360, 768, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await screen(page, name);
  }
  await page.setViewportSize(before);
}
