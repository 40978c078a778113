import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { errorIndexPage, errorPage, notFoundPage } from '../../../src/http/docs/error-page.ts';
import { DOCS_CSS, docsContentSecurityPolicy } from '../../../src/http/docs/layout.ts';
import { referencePage } from '../../../src/http/docs/reference-page.ts';
import { errorEntries, referenceTaken } from './error-fixture.ts';
import { attributes, elements, styleText } from './page-reader.ts';
import { referenceDocument } from './reference-fixture.ts';

const PAGES: readonly (readonly [string, string])[] = [
  ['reference', referencePage(referenceDocument, { baseUrl: 'https://api.example.com' })],
  ['error, en', errorPage(referenceTaken, 'en')],
  ['error, es', errorPage(referenceTaken, 'es')],
  ['error index, en', errorIndexPage(errorEntries, 'en')],
  ['error index, es', errorIndexPage(errorEntries, 'es')],
  ['not found, es', notFoundPage('es')],
];

describe.each(PAGES)('the %s page', (_, page) => {
  it('carries exactly the one style element that the policy admits', () => {
    expect(elements(page, 'style')).toHaveLength(1);
    const hash = createHash('sha256').update(styleText(page)).digest('base64');
    expect(docsContentSecurityPolicy()).toContain(`style-src 'sha256-${hash}'`);
  });

  it('has no script, no style attribute and no event handler', () => {
    expect(elements(page, 'script')).toEqual([]);
    expect(attributes(page, 'style')).toEqual([]);
    expect(attributes(page, 'on[a-z]+')).toEqual([]);
  });

  it('loads nothing from outside', () => {
    expect(attributes(page, 'src')).toEqual([]);
    expect(elements(page, 'link')).toEqual(['<link rel="icon" href="data:,">']);
    expect(elements(page, '(?:img|iframe|object|embed|video|audio)')).toEqual([]);
    expect(styleText(page)).not.toMatch(/@import|url\(/);
  });

  it('gives every id once and leads every inner link to one', () => {
    const ids = attributes(page, 'id');
    expect(new Set(ids).size).toBe(ids.length);
    const targets = attributes(page, 'href').filter((href) => href.startsWith('#'));
    expect(targets.filter((target) => !ids.includes(target.slice(1)))).toEqual([]);
    const labels = attributes(page, 'aria-labelledby');
    expect(labels.filter((label) => !ids.includes(label))).toEqual([]);
  });

  it('has a language, a skip link, its landmarks and one first heading', () => {
    expect(attributes(page, 'lang')[0]).toMatch(/^(?:en|es)$/);
    expect(page).toContain('<a class="skip" href="#main">');
    for (const landmark of ['header', 'main', 'footer', 'h1', 'title']) {
      expect(elements(page, landmark)).toHaveLength(1);
    }
  });
});

describe('the policy', () => {
  it('starts from nothing and forbids framing', () => {
    expect(docsContentSecurityPolicy()).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
  });

  it('is not spoilt by a style sheet that would end its element or be normalised by a parser', () => {
    expect(DOCS_CSS).not.toMatch(/<|\r|\0/);
  });
});

function luminance(colour: string): number {
  const channels = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255);
  const [red = 0, green = 0, blue = 0] = channels.map((value) =>
    value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  );
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

describe.each([
  ['light', 0],
  ['dark', 1],
] as const)('the %s colours', (_, index) => {
  const scheme = DOCS_CSS.split('@media (prefers-color-scheme: dark)')[index] ?? '';
  const colours = new Map(
    [...scheme.matchAll(/--([a-z-]+): (#[0-9a-f]{6})/g)].map(([, name = '', colour = '']) => [name, colour]),
  );

  it.each([
    ...['ink', 'muted', 'accent', 'change', 'string', 'literal'].flatMap((text) =>
      ['ground', 'card', 'sunk'].map((ground) => [text, ground] as const),
    ),
    ...['get', 'post', 'change', 'remove'].map((text) => [text, `${text}-soft`] as const),
  ])('let %s be read on %s (WCAG AA)', (text, ground) => {
    expect(contrast(colours.get(text) ?? '', colours.get(ground) ?? '')).toBeGreaterThanOrEqual(4.5);
  });
});
