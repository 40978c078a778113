import { createHash } from 'node:crypto';

const SCRIPT = /<script\b([^>]*)>([\s\S]*?)<\/script>/g;
const STYLE = /<style\b[^>]*>([\s\S]*?)<\/style>/g;

function cspHash(text: string): string {
  return `'sha256-${createHash('sha256').update(text, 'utf8').digest('base64')}'`;
}

/**
 * Content security policy: allows files of this site and inline scripts by hash, and no other origin. Highlighted code
 * has its colors in style attributes, which cannot be allowed by hash.
 */
export function contentSecurityPolicy(pages: readonly string[]): string {
  const scripts = new Set<string>();
  const styles = new Set<string>();
  for (const page of pages) {
    for (const [, attributes = '', text = ''] of page.matchAll(SCRIPT)) {
      if (!/\ssrc=/.test(attributes) && !/type="application\/ld\+json"/.test(attributes))
        scripts.add(cspHash(text));
    }
    for (const [, text = ''] of page.matchAll(STYLE)) styles.add(cspHash(text));
  }
  return [
    "default-src 'none'",
    // The search is WebAssembly.
    `script-src 'self' 'wasm-unsafe-eval' ${[...scripts].sort().join(' ')}`,
    `style-src 'self' ${[...styles].sort().join(' ')}`.trim(),
    "style-src-attr 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}
