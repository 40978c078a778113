import { resolveLink, siteAddress } from './page-links.ts';

/** Post-processes a page of Astro: converts links to site URLs and makes tables scrollable by keyboard. */
export function finishHtml(slug: string, html: string): string {
  const label = slug.startsWith('es/') ? 'Tabla' : 'Table';
  let tables = 0;
  return html
    .replaceAll(/(<a\b[^>]*?\shref=")([^"]+)"/g, (whole, before: string, href: string) => {
      const target = href.startsWith('/') ? null : resolveLink(slug, href);
      return target ? `${before}${siteAddress(target.slug)}${target.rest}"` : whole;
    })
    .replaceAll(/<table>([\s\S]*?)<\/table>/g, (whole) => {
      tables += 1;
      return `<div class="scroll" tabindex="0" role="region" aria-label="${label} ${tables}">${whole}</div>`;
    });
}
