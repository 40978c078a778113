import type { OpenApiDocument } from '../../server/src/http/docs/openapi-types.ts';
import { fieldsList } from './fields-list.ts';
import { block, code, parts, plain, prose, table } from './markdown.ts';
import { operationSection } from './operation-section.ts';
import { type Operation, operationGroups } from './operations.ts';
import type { Page } from './page.ts';
import { fieldsOf } from './schema-fields.ts';

interface Resource {
  readonly slug: string;
  readonly title: string;
  readonly lead: string;
  /** First part of the paths that belong here. */
  readonly path: RegExp;
}

const RESOURCES: readonly Resource[] = [
  {
    slug: 'payins',
    title: 'Payins',
    lead: 'Collect money from a payer. How to: [Bre-B](/docs/guides/collect-with-breb), [PSE](/docs/guides/collect-with-pse).',
    path: /^\/payins/,
  },
  {
    slug: 'payouts',
    title: 'Payouts',
    lead: 'Send money to a Bre-B key. How to: [payouts](/docs/guides/payouts).',
    path: /^\/payouts/,
  },
  {
    slug: 'breb-keys',
    title: 'Key lookup',
    lead: 'See whose a Bre-B key is before you pay it. How to: [payouts](/docs/guides/payouts).',
    path: /^\/breb\/keys/,
  },
  {
    slug: 'payment-links',
    title: 'Payment links',
    lead: 'A page on which a payer pays, by the method of their choice. How to: [payment links](/docs/guides/payment-links).',
    path: /^\/payment-links/,
  },
  {
    slug: 'balance',
    title: 'Balance and ledger',
    lead: 'The money held for you, and every movement of it. How to: [reconciliation](/docs/guides/reconciliation).',
    path: /^\/(?:balance|ledger)/,
  },
  {
    slug: 'pse-banks',
    title: 'PSE banks',
    lead: 'The banks a payer can pay from. How to: [PSE](/docs/guides/collect-with-pse).',
    path: /^\/pse/,
  },
  {
    slug: 'events',
    title: 'Events',
    lead: 'Every final outcome: to read, to follow live and to have sent again. What each carries: [events](/docs/reference/events).',
    path: /^\/events/,
  },
  {
    slug: 'webhook-endpoints',
    title: 'Webhook endpoints',
    lead: 'Where your events are sent, and what came of it. How to: [webhooks](/docs/guides/webhooks).',
    path: /^\/webhook-endpoints/,
  },
  {
    slug: 'tokens',
    title: 'Access tokens',
    lead: 'A token of one hour in place of the key itself. More: [credentials](/docs/concepts/credentials).',
    path: /^\/oauth/,
  },
];

/** Only success shows: twelve operations answer the same problems. */
const OPERATIONS_ONLY = { tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 2 } };

export function apiPages(document: OpenApiDocument, baseUrl: string): readonly Page[] {
  const operations = operationGroups(document).flatMap((group) => group.operations);
  const homeless = operations.filter((operation) => resourcesOf(operation).length !== 1);
  if (homeless.length > 0)
    throw new Error(`api-pages.ts has not one page for ${homeless.map(({ path }) => path).join(', ')}`);
  return [
    overview(document, operations, baseUrl),
    ...RESOURCES.map((resource) => ({
      slug: `api/${resource.slug}`,
      title: resource.title,
      description: `API reference: ${resource.title.toLowerCase()}.`,
      settings: OPERATIONS_ONLY,
      body: parts(
        resource.lead,
        ...operations
          .filter(({ path }) => resource.path.test(path))
          .map((operation) => operationSection(document, operation, baseUrl)),
      ),
    })),
  ];
}

function resourcesOf({ path }: Operation): readonly Resource[] {
  return RESOURCES.filter((resource) => resource.path.test(path));
}

function overview(document: OpenApiDocument, operations: readonly Operation[], baseUrl: string): Page {
  const rows = operations.map((operation) => {
    const [resource] = resourcesOf(operation);
    const anchor = operation.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    return [
      code(`${operation.method.toUpperCase()} ${operation.path}`),
      `[${plain(operation.title)}](/docs/api/${resource?.slug ?? ''}#${anchor})`,
    ];
  });
  return {
    slug: 'api',
    title: 'API reference',
    description: 'Every operation of the API, its conventions and the shape of a problem.',
    settings: { sidebar: { label: 'Overview' } },
    body: parts(
      prose(document.info.description),
      `Examples use ${code(baseUrl)}, where ${code('npm run dev')} listens; yours is the address your operator gave you. The machine-readable description, [openapi.json](/openapi.json) (OpenAPI ${document.openapi}), is served by every server with its own address in it.`,
      'With the SDK, the examples assume this beginning:',
      block(
        'ts',
        "import { Caudal } from '@caudal/sdk';\n\nconst caudal = new Caudal({\n  apiKey: process.env.CAUDAL_API_KEY ?? '',\n  baseUrl: process.env.CAUDAL_BASE_URL ?? '',\n});",
      ),
      '## Operations',
      table(['Request', 'What it does'], rows),
      '## Credentials',
      table(
        ['Scheme', 'What it is'],
        Object.entries(document.components?.securitySchemes ?? {}).map(([name, { description }]) => [
          code(name),
          prose(description),
        ]),
      ),
      'Every operation of a merchant takes an API key or a bearer token. More in [credentials](/docs/concepts/credentials).',
      '## Lists',
      'Lists are newest first. `pageSize` is 1 to 100 (10 if left out); take `nextCursor` of `pageInfo` as `cursor` of the next request and leave the filters as they are. At the ends the cursors are null.',
      '## Headers of every answer',
      '`X-Request-Id` names the request in our logs: quote it when you ask for help.',
      '## Problem',
      'Every error is a problem document (RFC 9457, `application/problem+json`). Branch on `code`; [every code](/docs/errors) has a page, to which `type` leads.',
      fieldsList(fieldsOf(document, { $ref: '#/components/schemas/Problem' }), 'response'),
    ),
  };
}
