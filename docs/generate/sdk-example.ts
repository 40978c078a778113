import type { OpenApiDocument } from '../../server/src/http/docs/openapi-types.ts';
import type { Operation } from './operations.ts';
import { resolveShape } from './schema-shape.ts';

interface Call {
  /** After `caudal.`. */
  readonly method: string;
  /** The argument after the path parameters. */
  readonly takes?: 'body' | 'query';
  /** The member of the body that is an argument of its own, before the others. */
  readonly first?: string;
  /** The result is iterated, not awaited; the name of the loop variable. */
  readonly loop?: string;
}

/** How each operation is called with `@caudal/sdk`. docs/test/sdk-examples.test.ts compiles them all. */
const CALLS: Readonly<Record<string, Call>> = {
  // The SDK builds the form from the client's API key.
  issueAccessToken: { method: 'accessTokens.create' },
  createPayin: { method: 'payins.create', takes: 'body' },
  listPayins: { method: 'payins.list', takes: 'query', loop: 'payin' },
  getPayin: { method: 'payins.get' },
  acceptPayinAnomaly: { method: 'payins.acceptAnomaly' },
  lookUpBrebKey: { method: 'breb.lookUp', takes: 'query' },
  createBrebKeyLookup: { method: 'breb.lookUp', takes: 'body', first: 'keyString' },
  createPayout: { method: 'payouts.create', takes: 'body' },
  searchPayouts: { method: 'payouts.search', takes: 'body', loop: 'payout' },
  listPayouts: { method: 'payouts.list', takes: 'query', loop: 'payout' },
  getPayout: { method: 'payouts.get' },
  cancelPayout: { method: 'payouts.cancel' },
  createPaymentLink: { method: 'paymentLinks.create', takes: 'body' },
  listPaymentLinks: { method: 'paymentLinks.list', takes: 'query', loop: 'link' },
  getPaymentLink: { method: 'paymentLinks.get' },
  expirePaymentLink: { method: 'paymentLinks.expire' },
  getBalance: { method: 'balance.get' },
  listLedgerEntries: { method: 'ledger.listEntries', takes: 'query', loop: 'entry' },
  listPseBanks: { method: 'pse.listBanks' },
  createWebhookEndpoint: { method: 'webhookEndpoints.create', takes: 'body' },
  listWebhookEndpoints: { method: 'webhookEndpoints.list', takes: 'query', loop: 'endpoint' },
  getWebhookEndpoint: { method: 'webhookEndpoints.get' },
  updateWebhookEndpoint: { method: 'webhookEndpoints.update', takes: 'body' },
  deleteWebhookEndpoint: { method: 'webhookEndpoints.delete' },
  rotateWebhookSecret: { method: 'webhookEndpoints.rotateSecret' },
  testWebhookEndpoint: { method: 'webhookEndpoints.test' },
  listWebhookDeliveries: { method: 'webhookEndpoints.listDeliveries', takes: 'query', loop: 'delivery' },
  listEvents: { method: 'events.list', takes: 'query', loop: 'event' },
  streamEvents: { method: 'events.stream', loop: 'event' },
  getEvent: { method: 'events.get' },
  replayEvent: { method: 'events.replay' },
  replayEvents: { method: 'events.replayMany', takes: 'body' },
};

/** The statement that calls the operation with the SDK. */
export function sdkExample(document: OpenApiDocument, operation: Operation, body?: unknown): string {
  const id = operation.definition.operationId ?? '';
  const call = CALLS[id];
  if (!call) throw new Error(`docs/generate/sdk-example.ts has no SDK call for ${id}`);
  const inPath = operation.parameters.filter((parameter) => parameter.in === 'path');
  const args = inPath.map((parameter) => {
    const { schema } = resolveShape(document, parameter.schema ?? true);
    return literal(parameter.example ?? schema.example ?? schema.examples?.[0] ?? '');
  });
  if (call.takes === 'body' && body !== undefined)
    args.push(...bodyArgs(call.method.endsWith('.create') ? withOwnReference(body) : body, call.first));
  if (call.takes === 'query') args.push(...queryArgs(operation));
  const expression = `caudal.${call.method}(${args.join(', ')})`;
  return call.loop === undefined
    ? `const ${resultName(call.method)} = await ${expression};`
    : `for await (const ${call.loop} of ${expression}) {\n  console.log(${call.loop}.${call.loop === 'link' ? 'paymentLinkId' : 'id'});\n}`;
}

/** References are unique, and the curl example before it on the page has used the one of the body. */
function withOwnReference(body: unknown): unknown {
  const { reference } = body as { readonly reference?: unknown };
  return typeof reference === 'string' ? { ...(body as object), reference: `${reference}-sdk` } : body;
}

function bodyArgs(body: unknown, first: string | undefined): string[] {
  if (first === undefined) return [literal(body)];
  const { [first]: own, ...others } = body as Readonly<Record<string, unknown>>;
  return [own, others].map(literal);
}

function queryArgs({ parameters }: Operation): string[] {
  const withExamples = parameters.filter(
    ({ in: place, example }) => place === 'query' && example !== undefined,
  );
  return withExamples.length === 0
    ? []
    : [literal(Object.fromEntries(withExamples.map(({ name, example }) => [name, example])))];
}

function resultName(method: string): string {
  if (method === 'pse.listBanks') return 'banks';
  if (method === 'payins.acceptAnomaly') return 'anomaly';
  if (method.startsWith('webhookEndpoints.')) return 'endpoint';
  const [resource = ''] = method.split('.');
  if (method === 'events.replay' || method === 'events.replayMany') return 'replayed';
  return resource === 'breb' ? 'lookup' : resource === 'paymentLinks' ? 'link' : resource.replace(/s$/, '');
}

/** A JSON value as a TypeScript literal. */
function literal(value: unknown): string {
  return JSON.stringify(value, null, 2)
    .replaceAll(/^(\s*)"([A-Za-z_]\w*)":/gm, '$1$2:')
    .replaceAll(/"((?:[^"\\]|\\.)*)"/g, (_, text: string) => quoted(JSON.parse(`"${text}"`) as string));
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`).replaceAll('\n', String.raw`\n`)}'`;
}
