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
    ...RESOURCES.map((resource) => {
      const sections = inExampleOrder(operations.filter(({ path }) => resource.path.test(path))).map(
        (operation) => operationSection(document, operation, baseUrl),
      );
      return {
        slug: `api/${resource.slug}`,
        title: resource.title,
        description: `API reference: ${resource.title.toLowerCase()}.`,
        settings: OPERATIONS_ONLY,
        body: parts(resource.lead, ...exampleVariables(sections.join('\n'), baseUrl), ...sections),
      };
    }),
  ];
}

/** Deletions last: a reader who runs the examples of a page in order still has the resource. */
function inExampleOrder(operations: readonly Operation[]): readonly Operation[] {
  const isDeletion = ({ method }: Operation) => method === 'delete';
  return [...operations.filter((each) => !isDeletion(each)), ...operations.filter(isDeletion)];
}

/** How to set the variables that the curl examples of a page use, besides the API key. */
function exampleVariables(examples: string, baseUrl: string): readonly string[] {
  const usesToken = examples.includes('$CAUDAL_ACCESS_TOKEN');
  if (!usesToken && !examples.includes('$CAUDAL_KEY_ID')) return [];
  const commands = ['export CAUDAL_KEY_ID=$(echo "$CAUDAL_API_KEY" | cut -d_ -f3)'];
  if (usesToken)
    commands.push(
      `export CAUDAL_ACCESS_TOKEN=$(curl -s ${baseUrl}/oauth/token -u "$CAUDAL_KEY_ID:$CAUDAL_API_KEY" \\\n  -d grant_type=client_credentials | node -pe 'JSON.parse(fs.readFileSync(0)).access_token')`,
    );
  return [
    `The examples need ${usesToken ? 'an [access token](/docs/api/tokens), which is valid for an hour' : "the API key's id"}:`,
    block('sh', commands.join('\n')),
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
      `Examples use the address of this server, ${code(baseUrl)}; replace the ids in them with those of your own resources. The machine-readable description is [openapi.json](/openapi.json) (OpenAPI ${document.openapi}).`,
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
