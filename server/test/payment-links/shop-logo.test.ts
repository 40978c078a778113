import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ShopDriver } from '../harness/shop-driver.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const folder = mkdtempSync(join(tmpdir(), 'caudal-logo-'));
let stack: Stack;
let shop: ShopDriver;
beforeAll(async () => {
  stack = await startStack();
  shop = await ShopDriver.create(stack, '--accent', '#1d4ed8');
});
afterAll(async () => {
  await stack?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function saved(name: string, bytes: Buffer | string): string {
  const path = join(folder, name);
  writeFileSync(path, bytes);
  return path;
}

const image = (width: number, height: number, background = '#7c3aed') =>
  sharp({ create: { width, height, channels: 4, background } });

/** The image URLs of a page, by the attribute that carries them. */
function images(html: string) {
  return {
    header: /<img class="disc" src="([^"]*)"/.exec(html)?.[1] ?? null,
    icon: /<link rel="icon" href="([^"]*)"/.exec(html)?.[1] ?? '',
    preview: /<meta property="og:image" content="([^"]*)"/.exec(html)?.[1] ?? '',
  };
}

const get = (path: string) => fetch(new URL(path, stack.apis[0]?.url));

describe('logo of a shop', () => {
  it.each([
    ['PNG', async () => saved('wide.png', await image(400, 200).png().toBuffer())],
    ['JPEG', async () => saved('tall.jpg', await image(300, 900).flatten().jpeg().toBuffer())],
  ])('from a %s is served as square PNG files that browsers keep', async (_format, file) => {
    const withLogo = await ShopDriver.create(stack);
    await withLogo.update('--logo', await file());
    const { html } = await withLogo.page();
    const { header, icon, preview } = images(html);
    expect(preview).toMatch(/^http:/);
    for (const [path, edge] of [
      [header ?? '', 96],
      [icon, 32],
      [preview, 256],
    ] as const) {
      const response = await get(path);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('image/png');
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      const { width, height, format } = await sharp(await response.arrayBuffer()).metadata();
      expect({ width, height, format }).toEqual({ width: edge, height: edge, format: 'png' });
    }
  });

  it('contains only pixels of the uploaded file', async () => {
    const withLogo = await ShopDriver.create(stack);
    const marked = await image(64, 64)
      .png()
      .withMetadata({ exif: { IFD0: { Copyright: 'SECRET-MARK' } } })
      .toBuffer();
    const bytes = Buffer.concat([marked, Buffer.from('<script>SECRET-MARK</script>')]);
    expect(bytes.toString('latin1')).toContain('SECRET-MARK');
    await withLogo.update('--logo', saved('marked.png', bytes));
    const { header } = images((await withLogo.page()).html);
    const served = Buffer.from(await (await get(header ?? '')).arrayBuffer());
    expect(served.toString('latin1')).not.toContain('SECRET-MARK');
  });

  it('changes its URL when it changes, and is removed with --logo none', async () => {
    const withLogo = await ShopDriver.create(stack);
    await withLogo.update('--logo', saved('first.png', await image(64, 64, '#b91c1c').png().toBuffer()));
    const { logoId: first } = await withLogo.show();
    await withLogo.update('--logo', saved('second.png', await image(64, 64, '#15803d').png().toBuffer()));
    const { logoId: second } = await withLogo.show();
    expect(second).not.toBe(first);
    expect((await get(`/checkout/logo/${String(first)}-96.png`)).status).toBe(404);
    expect((await get(`/checkout/logo/${String(second)}-96.png`)).status).toBe(200);
    await withLogo.update('--logo', 'none');
    expect(await withLogo.show()).toMatchObject({ logoId: null });
    const [row] = await stack.database.query<{ details: object }>(
      "select details from caudal.operator_actions where resource = $1 and action = 'org.update' order by at desc limit 1",
      [withLogo.id],
    );
    expect(row?.details).toEqual({ logoId: null, previousLogoId: second });
  });
});

describe('org update --logo', () => {
  const SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';

  it.each([
    ['an SVG file', () => saved('logo.svg', SVG), 'PNG or JPEG'],
    ['an SVG file named PNG', () => saved('svg.png', SVG), 'PNG or JPEG'],
    ['a file of more than 512 KB', () => saved('large.png', Buffer.alloc(600_000)), '512 KB'],
    [
      'an image of more than 2 megapixels in a small file',
      async () => saved('bomb.png', await image(2000, 1001).png().toBuffer()),
      'at most 2000000 pixels',
    ],
    [
      'a truncated image',
      async () => saved('cut.png', (await image(200, 200).png().toBuffer()).subarray(0, 200)),
      'cannot be read as an image',
    ],
    ['a missing file', () => join(folder, 'missing.png'), 'ENOENT'],
  ])('rejects %s', async (_what, file, message) => {
    await expect(shop.update('--logo', await file())).rejects.toThrow(message);
    expect(await shop.show()).toMatchObject({ logoId: null });
  });
});

describe('shop without a logo', () => {
  it('has its initials, an icon with its initial, and its color for the browser', async () => {
    const { html } = await shop.page();
    expect(html).toContain('aria-hidden="true">TA</span>');
    expect(html).toContain('<meta name="theme-color" content="#1d4ed8">');
    const { header, icon } = images(html);
    expect(header).toBeNull();
    expect(decodeURIComponent(icon)).toMatch(
      /^data:image\/svg\+xml,<svg .*fill="#1d4ed8".*>T<\/text><\/svg>$/,
    );
  });
});

describe('images of checkout pages', () => {
  it('are loaded from the same address only', async () => {
    const { headers } = await shop.page();
    expect(headers.get('content-security-policy')).toContain("img-src 'self' data:;");
  });

  it('include an icon at /favicon.ico', async () => {
    const response = await get('/favicon.ico');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/svg+xml']);
  });

  it.each([
    '/checkout/logo/x.png',
    `/checkout/logo/${'A'.repeat(22)}-96.png`,
    `/checkout/logo/${'A'.repeat(22)}-7.png`,
  ])('are 404 at %s', async (path) => expect((await get(path)).status).toBe(404));
});
