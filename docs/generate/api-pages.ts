import type { OpenApiDocument } from '../../server/src/http/docs/openapi-types.ts';
import { fieldsList } from './fields-list.ts';
import { block, code, parts, plain, prose, table } from './markdown.ts';
import { operationSection } from './operation-section.ts';
import { type Operation, operationGroups } from './operations.ts';
import type { Page } from './page.ts';
import { listFields } from './schema-fields.ts';

interface Resource {
  readonly slug: string;
  readonly title: string;
  readonly lead: string;
  /** Matches the paths of this resource. */
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
    lead: 'Look up the holder of a Bre-B key before you pay it. How to: [payouts](/docs/guides/payouts).',
    path: /^\/breb\/keys/,
  },
  {
    slug: 'payment-links',
    title: 'Payment links',
    lead: 'A hosted page where a payer chooses a method and pays. How to: [payment links](/docs/guides/payment-links).',
    path: /^\/payment-links/,
  },
  {
    slug: 'balance',
    title: 'Balance and ledger',
    lead: 'Your balance and its ledger entries. How to: [reconciliation](/docs/guides/reconciliation).',
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
    lead: 'Every final outcome is an event: list, stream and replay events. Their contents: [events](/docs/reference/events).',
    path: /^\/events/,
  },
  {
    slug: 'webhook-endpoints',
    title: 'Webhook endpoints',
    lead: 'Webhook endpoints and their deliveries. How to: [webhooks](/docs/guides/webhooks).',
    path: /^\/webhook-endpoints/,
  },
  {
    slug: 'tokens',
    title: 'Access tokens',
    lead: 'A one-hour token instead of the API key. More: [credentials](/docs/concepts/credentials).',
    path: /^\/oauth/,
  },
];

/** The table of contents lists only operations: their subsections all have the same titles. */
const OPERATIONS_ONLY = { tableOfContents: { minHeadingLevel: 2, maxHeadingLevel: 2 } };

export function apiPages(document: OpenApiDocument, baseUrl: string): readonly Page[] {
  const operations = operationGroups(document).flatMap((group) => group.operations);
  const unassigned = operations.filter((operation) => findResources(operation).length !== 1);
  if (unassigned.length > 0)
    throw new Error(
      `api-pages.ts needs exactly one page for ${unassigned.map(({ path }) => path).join(', ')}`,
    );
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

function findResources({ path }: Operation): readonly Resource[] {
  return RESOURCES.filter((resource) => resource.path.test(path));
}

function overview(document: OpenApiDocument, operations: readonly Operation[], baseUrl: string): Page {
  const rows = operations.map((operation) => {
    const [resource] = findResources(operation);
    const anchor = operation.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
    return [
      code(`${operation.method.toUpperCase()} ${operation.path}`),
      `[${plain(operation.title)}](/docs/api/${resource?.slug ?? ''}#${anchor})`,
    ];
  });
  return {
    slug: 'api',
    title: 'API reference',
    description: 'Every operation of the API, its conventions and its error format.',
    settings: { sidebar: { label: 'Overview' } },
    body: parts(
      prose(document.info.description),
      `Examples use ${code(baseUrl)}, where ${code('npm run dev')} listens; use the base URL of your operator instead. Every server serves the machine-readable [openapi.json](/openapi.json) (OpenAPI ${document.openapi}) with its own URL.`,
      'The SDK examples assume this setup:',
      block(
        'ts',
        "import { Caudal } from '@caudal/sdk';\n\nconst caudal = new Caudal({\n  apiKey: process.env.CAUDAL_API_KEY ?? '',\n  baseUrl: process.env.CAUDAL_BASE_URL ?? '',\n});",
      ),
      '## Operations',
      table(['Request', 'Description'], rows),
      '## Credentials',
      table(
        ['Scheme', 'Description'],
        Object.entries(document.components?.securitySchemes ?? {}).map(([name, { description }]) => [
          code(name),
          prose(description),
        ]),
      ),
      'Every merchant operation accepts an API key or a bearer token. More in [credentials](/docs/concepts/credentials).',
      '## Lists',
      'Lists are newest first. `pageSize` is 1 to 100 (default 10). Pass `pageInfo.nextCursor` as `cursor` of the next request, with the same filters. The cursors are null at the ends.',
      '## Headers of every response',
      '`X-Request-Id` identifies the request in the server logs: include it in support requests.',
      '## Problem',
      'Every error is a problem document (RFC 9457, `application/problem+json`). Branch on `code`; [every code](/docs/errors) has a page, and `type` is its URL.',
      fieldsList(listFields(document, { $ref: '#/components/schemas/Problem' }), 'response'),
    ),
  };
}
