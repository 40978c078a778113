import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/src/command-list.ts';
import { GLOBAL_OPTIONS } from '../../cli/src/framework/global-options.ts';
import { EVENT_NAMES, TEST_EVENT } from '../../server/src/events/event.ts';
import { EXAMPLE_ADDRESS } from '../../server/src/http/docs/site.ts';
import { ERRORS } from '../../server/src/kit/error-catalogue.ts';
import { OPERATOR_COMMANDS } from '../../server/src/operator/commands.ts';
import { PAYIN_ERROR_CODES } from '../../server/src/payins/payin.columns.ts';
import { PAYIN_STATUSES } from '../../server/src/payins/payin.states.ts';
import { LINK_STATUSES } from '../../server/src/payment-links/payment-link.states.ts';
import { PAYOUT_ERROR_CODES } from '../../server/src/payouts/payout.columns.ts';
import { PAYOUT_STATUSES } from '../../server/src/payouts/payout.states.ts';
import { SETTINGS } from '../../server/src/settings/settings.ts';
import { TEST_KEYS } from '../../simulator/src/breb/test-keys.ts';
import { MAGIC_DOCUMENTS } from '../../simulator/src/magic-documents.ts';
import { brokenLinks } from '../finish/broken-links.ts';
import { textAddress } from '../finish/page-links.ts';
import { type BuiltSite, buildSite, fieldNames, firstCells, headings, pageContent } from './built-site.ts';
import { EVENT_DATA_NAMES, OPERATIONS, PROBLEM_NAMES } from './openapi-names.ts';

let site: BuiltSite;
beforeAll(() => {
  site = buildSite();
});

const page = (slug: string): string => {
  const html = site.pages.get(slug);
  if (html === undefined) throw new Error(`the site has no page ${slug}`);
  return html;
};
const sorted = (values: Iterable<string>): readonly string[] => [...new Set(values)].sort();
const addresses = (pattern: RegExp) =>
  [...site.pages.keys()].flatMap((slug) => pattern.exec(slug)?.[1] ?? []);
const apiPages = () => addresses(/^(api\/.+)$/);

describe('the API reference', () => {
  it('contains every API operation exactly once', () => {
    const shown = apiPages().flatMap((slug) =>
      [...pageContent(page(slug)).matchAll(/<p><strong><code[^>]*>([A-Z]+ \/[^<]*)<\/code><\/strong>/g)].map(
        (match) => match[1] ?? '',
      ),
    );
    expect([...shown].sort()).toEqual(OPERATIONS.map(({ request }) => request).sort());
    const listed = firstCells(page('api')).filter((cell) => /^[A-Z]+ \//.test(cell));
    expect([...listed].sort()).toEqual([...shown].sort());
  });

  it('contains exactly the parameters, headers and fields of each operation', () => {
    for (const slug of apiPages()) {
      const html = page(slug);
      const here = OPERATIONS.filter(({ request }) => html.includes(`${request}</code></strong>`));
      expect(here).not.toEqual([]);
      const names = sorted(here.flatMap((operation) => [...operation.names]));
      expect({ slug, names: sorted(fieldNames(html)) }).toEqual({ slug, names });
    }
    expect(sorted(fieldNames(page('api')))).toEqual(sorted(PROBLEM_NAMES));
  });

  it('links every problem that each operation can return', () => {
    for (const slug of apiPages()) {
      const html = page(slug);
      const codes = OPERATIONS.filter(({ request }) => html.includes(`${request}</code></strong>`)).flatMap(
        ({ problems }) => problems,
      );
      const linked = [...pageContent(html).matchAll(/href="\/docs\/errors\/([a-z_]+)"/g)].map(
        (match) => match[1] ?? '',
      );
      expect({ slug, codes: sorted(linked) }).toEqual({ slug, codes: sorted(codes) });
    }
  });
});

describe('the other reference pages', () => {
  it('have one page per problem in both languages', () => {
    for (const pattern of [/^errors\/(.+)$/, /^es\/errors\/(.+)$/])
      expect(sorted(addresses(pattern))).toEqual(sorted(Object.keys(ERRORS)));
    for (const [code, entry] of Object.entries(ERRORS)) {
      expect(page(`errors/${code}`)).toContain('<html lang="en"');
      expect(page(`es/errors/${code}`)).toContain('<html lang="es"');
      expect(site.text(`errors/${code}.md`)).toContain(entry.remedy.en);
      expect(site.text(`es/errors/${code}.md`)).toContain(entry.remedy.es);
      expect(page(`es/errors/${code}`)).toContain(`href="/docs/errors/${code}?lang=en"`);
    }
    for (const slug of ['errors', 'es/errors'])
      expect(sorted(firstCells(page(slug)))).toEqual(sorted(Object.keys(ERRORS)));
  });

  it('contain every event with its fields, and every errorCode in both languages', () => {
    expect(headings(page('reference/events'), 2)).toEqual([...EVENT_NAMES, TEST_EVENT]);
    expect(sorted(fieldNames(page('reference/events')))).toEqual(sorted(EVENT_DATA_NAMES));
    const codes = new Set<string>([...PAYIN_ERROR_CODES, ...PAYOUT_ERROR_CODES]);
    expect(headings(page('reference/error-codes'), 2)).toEqual([...codes]);
    expect([...page('reference/error-codes').matchAll(/<p lang="es">/g)]).toHaveLength(codes.size);
  });

  it('contain exactly the existing settings and test values', () => {
    expect(sorted(fieldNames(page('operating/configuration')))).toEqual(sorted(Object.keys(SETTINGS)));
    const documents = MAGIC_DOCUMENTS.map(({ document }) => document);
    expect(firstCells(page('reference/test-values'))).toEqual([...documents, ...TEST_KEYS.keys()]);
  });

  it('contain exactly the existing commands and options', () => {
    const html = page('reference/commands');
    const all = [...COMMANDS, ...OPERATOR_COMMANDS];
    expect(headings(html, 3)).toEqual(all.map(({ name }) => `caudal ${name}`));
    const option = ({ name, value }: { name: string; value: string | null }) =>
      `--${name}${value === null ? '' : ` ${value}`}`;
    const known = [
      ...GLOBAL_OPTIONS.map(option),
      ...all.flatMap(({ options, args }) => [...options.map(option), ...args.map(({ name }) => name)]),
    ];
    expect(sorted(fieldNames(html))).toEqual(sorted(known));
    // Smart punctuation would turn `--wait` into a dash and a word.
    expect(pageContent(html).match(/[–—]\w+/g) ?? []).toEqual([]);
  });

  it('draw every state', () => {
    const drawn = [...page('concepts/states').matchAll(/<text[^>]*>([A-Z]+)<\/text>/g)].map(
      (match) => match[1],
    );
    expect(drawn).toEqual(expect.arrayContaining([...PAYIN_STATUSES, ...PAYOUT_STATUSES, ...LINK_STATUSES]));
    expect(drawn).toHaveLength(PAYIN_STATUSES.length + PAYOUT_STATUSES.length + LINK_STATUSES.length);
  });
});

describe('the site', () => {
  const slugs = () => [...site.pages.keys()].filter((slug) => slug !== '404');

  it('has a Markdown version of each page, and llms.txt lists them all', () => {
    const list = site.text('llms.txt');
    const whole = site.text('llms-full.txt');
    for (const slug of slugs()) {
      const markdown = textAddress(slug).replace('/docs/', '');
      const text = site.text(markdown);
      expect({
        slug,
        type: site.files.get(markdown)?.type,
        startsWithTitle: /^# \S/.test(text),
        markup: /<(?:div|svg|figure|br)\b/.exec(text.replaceAll(/```[\s\S]*?```/g, ''))?.[0],
        listed: list.includes(`](${textAddress(slug)})`),
        whole: slug.startsWith('es/') || whole.includes(text.trim()),
      }).toEqual({
        slug,
        type: 'text/markdown; charset=utf-8',
        startsWithTitle: true,
        markup: undefined,
        listed: true,
        whole: true,
      });
    }
    const listed = [...list.matchAll(/\]\((\/docs\/[^)]+)\)/g)].map((match) =>
      (match[1] ?? '').replace('/docs/', ''),
    );
    expect(listed.filter((address) => !site.files.has(address))).toEqual([]);
    expect(listed).toHaveLength(slugs().length);
  });

  it('marks the files in which the server replaces its address', () => {
    const texts = [...site.files].filter(([, { type }]) => /^text\/(?:html|markdown|plain)/.test(type));
    const withAddress = texts.filter(([address]) => site.text(address).includes(EXAMPLE_ADDRESS));
    const unmarked = withAddress
      .filter(([, { hasExampleAddress }]) => !hasExampleAddress)
      .map(([address]) => address);
    // The quickstart runs a stack on the machine of its reader.
    expect(unmarked.sort()).toEqual(['guides/quickstart', 'guides/quickstart.md']);
    expect(withAddress.length).toBeGreaterThan(unmarked.length);
    const split = texts.filter(([address]) => /127\.0\.0\.1<[^>]*>:8080/.test(site.text(address)));
    expect(split).toEqual([]);
  });

  it('has no broken links in pages and Markdown versions', () => {
    expect(brokenLinks(site.pages, site.files)).toEqual([]);
    const broken = slugs().flatMap((slug) => {
      const text = site.text(textAddress(slug).replace('/docs/', '')).replaceAll(/```[\s\S]*?```/g, '');
      return [...text.matchAll(/\]\((\/docs\/[^)#?]+)/g)]
        .map((match) => match[1] ?? '')
        .filter((link) => !site.files.has(link.replace('/docs/', '')))
        .map((link) => `${slug}: ${link}`);
    });
    expect(broken).toEqual([]);
  });

  it('detects broken links and anchors', () => {
    const pages = new Map([
      ['', '<a href="/docs/gone"></a><a href="#there"></a><a href="/docs#here"></a><p id="here"></p>'],
    ]);
    expect(brokenLinks(pages, new Set(['']))).toEqual([
      '/docs/ links to /docs/gone',
      '/docs/ links to #there',
    ]);
  });

  it('has a policy that allows its scripts by hash and no external resources', () => {
    expect(site.policy).toMatch(/^default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-/);
    expect(site.policy.replace("style-src-attr 'unsafe-inline'", '')).not.toContain('unsafe-inline');
    expect(site.policy).toContain("frame-ancestors 'none'");
    const sha256 = (text: string) => createHash('sha256').update(text).digest('base64');
    for (const [slug, html] of site.pages) {
      const scripts = [...html.matchAll(/<script\b([^>]*)>([\s\S]*?)<\/script>/g)].map(
        ([, attributes = '', text = '']) => ({ source: /\ssrc="([^"]+)"/.exec(attributes)?.[1], text }),
      );
      const blocked = scripts.filter(({ source, text }) =>
        source === undefined ? !site.policy.includes(sha256(text)) : !source.startsWith('/docs/'),
      );
      const external = [
        /<(?:img|iframe|object|embed|video|audio|source)\b[^>]*\ssrc="(?!\/docs\/|data:)[^>]*/,
        /<link\b[^>]*\shref="(?!\/docs\/|\/openapi)[^>]*/,
        /<[a-z][^>]*\son[a-z]+="[^>]*/,
      ].flatMap((pattern) => pattern.exec(html)?.[0] ?? []);
      expect({ slug, blocked, external }).toEqual({ slug, blocked: [], external: [] });
    }
  });
});
