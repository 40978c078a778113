import { describe, expect, it } from 'vitest';
import type { OpenApiDocument } from '../../../server/src/http/docs/openapi-types.ts';
import { finishHtml } from '../../finish/html.ts';
import { plainText, sourcePage } from '../../finish/plain-text.ts';
import { contentSecurityPolicy } from '../../finish/policy.ts';
import { fieldsList } from '../../generate/fields-list.ts';
import { block, code, plain, prose, table } from '../../generate/markdown.ts';
import { operationSection } from '../../generate/operation-section.ts';
import { operationGroups } from '../../generate/operations.ts';
import { pageText } from '../../generate/page.ts';
import { listFields } from '../../generate/schema-fields.ts';
import { stateDiagram } from '../../generate/state-diagram.ts';
import { referenceDocument } from './reference-fixture.ts';

function section(operationId: string): string {
  const operation = operationGroups(referenceDocument)
    .flatMap((group) => group.operations)
    .find(({ definition }) => definition.operationId === operationId);
  if (!operation) throw new Error(`the fixture has no ${operationId}`);
  return operationSection(referenceDocument, operation, 'https://api.example.com');
}

describe('the section of an operation', () => {
  it('shows path, credential, scope, a curl command per example and the SDK call', () => {
    const text = section('createPayin');
    expect(text).toContain('**`POST /payins`**');
    expect(text).toContain(
      'Credential: `x-api-key` header or `Authorization: Bearer` header. Scope: `payins:write`.',
    );
    expect(text).toContain('### Example: Bre-B with a key');
    expect(text).toContain('### Example: PSE');
    expect(text).toContain("curl -X POST 'https://api.example.com/payins'");
    expect(text).toContain('const payin = await caudal.payins.create({');
  });

  it('shows referenced fields with their rules, nested below their parent', () => {
    const text = section('createPayin');
    expect(text).toMatch(/^- \*\*`amountInCents`\*\* \*integer, required, 1 to 999,999,999,999\*/m);
    expect(text).toMatch(/^ {2}- \*\*`idType`\*\* \*string, required, one of `CO_CC` `CO_CE`/m);
  });

  it('links every problem to its page', () => {
    expect(section('getPayin')).toContain('[`not_found`](/docs/errors/not_found)');
  });

  it('throws for an operation without an SDK call', () => {
    expect(() => section('createToken')).toThrow('has no SDK call for createToken');
  });
});

describe('text from the code', () => {
  const evil = '<script>alert(1)</script>';

  it('is escaped', () => {
    expect(prose(`${evil} \`a<b\``)).toBe('&lt;script>alert(1)&lt;/script> `a<b`');
    expect(plain('*a* [b](c) <d> |')).toBe(String.raw`\*a\* \[b\](c) \<d\> \|`);
    expect(code('a`b')).toBe('``a`b``');
    expect(block('txt', '```\nx')).toBe('````txt\n```\nx\n````');
    expect(table(['a'], [['x|y\nz']])).toBe('| a |\n|---|\n| x\\|y z |');
    const document: OpenApiDocument = { openapi: '3.1.1', info: { title: evil, version: '1' }, paths: {} };
    const rows = listFields(document, {
      type: 'object',
      properties: { [evil]: { enum: [evil, 'a*b'], description: evil } },
    });
    expect(fieldsList(rows, 'request').replaceAll(/`[^`]*`/g, '')).not.toContain('<script');
  });

  it('stays on one line of the front matter', () => {
    const text = pageText({ slug: 'x', title: 'a: "b"\n---', description: 'c', body: 'd' });
    expect(sourcePage('x', text)).toEqual({ slug: 'x', title: 'a: "b"\n---', description: 'c', body: 'd' });
  });
});

describe('a finished page', () => {
  it('has site URLs for relative links, and tables scrollable by keyboard', () => {
    const html =
      '<a href="../concepts/money.md#x">m</a><a href="https://a.example/b.md">e</a><table><tr></tr></table>';
    expect(finishHtml('guides/payouts', html)).toBe(
      '<a href="/docs/concepts/money#x">m</a><a href="https://a.example/b.md">e</a><div class="scroll" tabindex="0" role="region" aria-label="Table 1"><table><tr></tr></table></div>',
    );
  });

  it('has a Markdown version without HTML that links to other Markdown versions', () => {
    const body =
      '<div class="fields">\n\n- **`a`** *string*<br>What it is.\n\n</div>\n\n[m](../concepts/money.md#x) [p](/docs/api/payins)\n\n```sh norun why\necho "<br>"\n```';
    expect(plainText({ slug: 'guides/payouts', title: 'T', description: '', body })).toBe(
      '# T\n\n- **`a`** *string*: What it is.\n\n[m](/docs/concepts/money.md#x) [p](/docs/api/payins.md)\n\n```sh\necho "<br>"\n```\n',
    );
  });

  it('has a policy with the hash of each script once', () => {
    const page = '<script>a()</script><script type="module">b()</script><script src="/docs/x.js"></script>';
    const hashes = contentSecurityPolicy([page, page]).match(/'sha256-[^']+'/g);
    expect(hashes).toHaveLength(2);
  });
});

describe('a state diagram', () => {
  it('shows each state and transition, and describes them in its aria-label', () => {
    const moves = [
      { from: null, to: 'OPEN', why: '' },
      { from: 'OPEN', to: 'DONE', why: '' },
    ];
    const svg = stateDiagram('A thing', ['OPEN', 'DONE'], moves);
    expect(svg).toContain('aria-label="A thing: created to OPEN; OPEN to DONE"');
    expect(svg.match(/<rect/g)).toHaveLength(2);
    expect(svg.match(/marker-end/g)).toHaveLength(2);
    expect(svg).not.toContain('\n');
  });
});
