import type { FastifyInstance } from 'fastify';
import { LOGO_EDGES, type LogoFile } from '../../organizations/logo.ts';
import type { Logos } from '../../organizations/logos.ts';
import type { Shop } from '../../organizations/shops.ts';
import { html } from '../html.ts';
import { contrastColor } from './accent.ts';
import { initials } from './format.ts';

const DEFAULT_ACCENT = '#0f766e';

/** The color of a shop's pages. */
export function accentColor(shop: Shop | null): string {
  return shop?.organization.accent ?? DEFAULT_ACCENT;
}

/**
 * URL of a file of the shop's logo; null when it has none.
 * @param base base URL or path of the checkout pages
 */
export function logoUrl({ identity: { logoId } }: Shop, file: LogoFile, base: string): string | null {
  return logoId === null ? null : `${base}/logo/${logoId}-${LOGO_EDGES[file]}.png`;
}

/** An icon for a shop without a logo: its first initial on its color. */
export function initialIcon(shop: Shop | null): string {
  const color = accentColor(shop);
  const letter = String.fromCodePoint(initials(shop?.organization.name ?? '').codePointAt(0) ?? 0x24);
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${color}"/><text x="16" y="23" font-family="sans-serif" font-size="20" font-weight="600" text-anchor="middle" fill="${contrastColor(color)}">${letter}</text></svg>`.toString();
}

const FILES = new Map(Object.entries(LOGO_EDGES).map(([file, edge]) => [String(edge), file as LogoFile]));

/** Serves logos under content-hashed names, and an icon for browsers that ask for /favicon.ico on their own. */
export function registerBrandImages(app: FastifyInstance, prefix: string, logos: Logos): void {
  app.get<{ Params: { name: string } }>(`${prefix}/logo/:name`, async (request, reply) => {
    void reply.headers({
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'",
    });
    const [, id = '', edge = ''] = /^([\w-]{22})-(\d+)\.png$/.exec(request.params.name) ?? [];
    const file = FILES.get(edge);
    const logo = file === undefined ? null : await logos.find(id);
    if (!logo || file === undefined) return reply.code(404).header('cache-control', 'no-store').send();
    return reply
      .type('image/png')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(logo[file]);
  });
  const icon = initialIcon(null);
  app.get('/favicon.ico', (_request, reply) =>
    reply
      .type('image/svg+xml')
      .headers({
        'cache-control': 'public, max-age=86400',
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'",
      })
      .send(icon),
  );
}
