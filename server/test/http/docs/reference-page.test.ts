import { describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../src/http/docs/openapi-types.ts';
import { referencePage } from '../../../src/http/docs/reference-page.ts';
import { attributes, elements } from './page-reader.ts';
import { referenceDocument } from './reference-fixture.ts';

const BASE = { baseUrl: 'https://api.example.com/' };

function sectionOf(page: string, anchor: string): string {
  const from = page.indexOf(`id="${anchor}"`);
  return page.slice(from, page.indexOf('</section>', from));
}

describe('the reference page', () => {
  const page = referencePage(referenceDocument, BASE);

  it('shows every operation with an anchor, and lists it in both tables of contents', () => {
    const operations = [
      ['op-createPayin', 'POST', '/payins', 'Create a payin'],
      ['op-listPayins', 'GET', '/payins', 'List payins'],
      ['op-getPayin', 'GET', '/payins/{id}', 'Read a payin'],
      ['op-createToken', 'POST', '/oauth/token', 'Get an access token'],
    ] as const;
    for (const [anchor, method, path, title] of operations) {
      const section = sectionOf(page, anchor);
      expect(section).toContain(`>${method}</span> <code>${path}</code>`);
      expect(section).toContain(title);
      // Column, phone box, and the heading's link to itself.
      expect(attributes(page, 'href').filter((href) => href === `#${anchor}`)).toHaveLength(3);
    }
    expect(elements(page, 'section').filter((tag) => tag.includes('class="op"'))).toHaveLength(
      operations.length,
    );
  });

  it('says which credential and scope an operation needs', () => {
    const create = sectionOf(page, 'op-createPayin');
    expect(create).toContain('<code>x-api-key</code> header or <code>Authorization: Bearer</code> header');
    expect(create).toContain('<dt>Required scope</dt><dd><code>payins:write</code></dd>');
    const token = sectionOf(page, 'op-createToken');
    expect(token).toContain('HTTP basic authentication');
    expect(token).not.toContain('Required scope');
  });

  it('links every problem code to its page', () => {
    expect(attributes(sectionOf(page, 'op-getPayin'), 'href')).toEqual(
      expect.arrayContaining(['/docs/errors/unauthorized', '/docs/errors/not_found']),
    );
  });

  it('shows fields behind references, with their rules', () => {
    const create = sectionOf(page, 'op-createPayin');
    expect(create).toContain('<code class="name">amountInCents</code>');
    expect(create).toContain('<li>1 to 999,999,999,999</li>');
    expect(create).toContain('<code class="name"><span>inlineCustomer.<wbr></span>idType</code>');
    expect(create).toContain('<li>one of <code>CO_CC</code> <code>CO_CE</code>');
  });

  it('shows a command for each named example, and the example response', () => {
    const create = sectionOf(page, 'op-createPayin');
    expect(create).toContain('Example request: Bre-B with a key');
    expect(create).toContain('Example request: PSE');
    expect(create).toContain('curl -X POST &#39;https://api.example.com/payins&#39;');
    expect(create).toContain('Example response, 201');
    expect(create).toContain('<span class="j-str">&quot;@CDL7Q2M9XK&quot;</span>');
  });

  it('follows references to responses, and shows the shared problem once', () => {
    const read = sectionOf(page, 'op-getPayin');
    expect(read).toContain('401 Unauthorized</span> No credential, or one that is not valid.');
    expect(read).toContain('<a href="#object-Problem">Problem</a>');
    expect(sectionOf(page, 'object-Problem')).toContain('requestId');
    expect(attributes(page, 'id').filter((id) => id === 'object-Problem')).toHaveLength(1);
  });

  it('links to the machine-readable description', () => {
    expect(attributes(page, 'href')).toContain('/openapi.json');
  });

  it('escapes hostile text wherever the document can carry it', () => {
    const evil = '"><script>alert(1)</script><img src=x onerror="y">';
    const hostile: OpenApiDocument = {
      openapi: '3.1.1',
      info: { title: evil, version: evil, summary: evil, description: `${evil} \`${evil}\`` },
      tags: [{ name: evil, description: evil }],
      security: [{ [evil]: [] }],
      paths: {
        [`/x/${evil}`]: {
          post: {
            operationId: evil,
            tags: [evil],
            summary: evil,
            description: evil,
            'x-scope': evil,
            'x-problem-codes': [evil],
            parameters: [
              { name: evil, in: 'query', example: evil, schema: { pattern: evil, default: evil } },
            ],
            requestBody: {
              content: {
                [evil]: {
                  schema: { type: 'object', properties: { [evil]: { enum: [evil], description: evil } } },
                  example: { [evil]: evil },
                },
              },
            },
            responses: {
              '200': {
                description: evil,
                headers: { [evil]: { description: evil } },
                content: { [evil]: { schema: { const: evil }, example: evil } },
              },
              [evil]: { description: evil },
            },
          },
        },
      },
      components: {
        securitySchemes: { [evil]: { type: 'apiKey', in: 'header', name: evil, description: evil } },
      },
    };
    const rendered = referencePage(hostile, { baseUrl: evil });
    expect(rendered).toContain('&lt;script&gt;');
    expect(rendered).not.toContain('<script');
    expect(rendered).not.toContain('<img');
    expect(attributes(rendered, 'onerror')).toEqual([]);
  });

  it('shows operations without a tag, an id or an answer', () => {
    const bare: OpenApiDocument = {
      openapi: '3.1.1',
      info: { title: 'Bare', version: '1' },
      paths: {
        '/livez': { get: {} },
        '/things/{id}': { delete: { responses: { '204': { description: 'Gone.' } } } },
      },
    };
    const rendered = referencePage(bare, BASE);
    expect(attributes(rendered, 'id')).toEqual(
      expect.arrayContaining(['op-get-livez', 'op-delete-things-id', 'tag-Other']),
    );
    expect(sectionOf(rendered, 'op-get-livez')).toContain('<dt>Authentication</dt><dd>none</dd>');
    expect(sectionOf(rendered, 'op-delete-things-id')).toContain('No body.');
  });
});
