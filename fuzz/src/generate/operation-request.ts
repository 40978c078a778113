import type { Operation } from '../document/openapi.ts';
import { oneOf } from '../tenants/ring.ts';
import { formBody, jsonBody } from './body.ts';
import type { Context } from './context.ts';
import { clientCredentials, merchantCredentials, printable } from './credentials.ts';
import { hostileText } from './hostile.ts';
import { pathOf, queryOf } from './parameters.ts';
import type { FuzzRequest } from './request.ts';

export function operationRequest(context: Context, operation: Operation): FuzzRequest {
  const { index } = context;
  const { headers, tenant, form } = credentialsFor(context, operation);
  const { body, type } = bodyFor(context, operation, form);
  return {
    index,
    subject: operation.id,
    method: operation.method,
    target: pathOf(context, operation) + queryOf(context, operation),
    headers: [
      ['host', 'caudal.test'],
      ...headers,
      ...(type === null ? [] : ([['content-type', type]] as const)),
      ...idempotencyHeader(context, operation),
      ...resumeHeader(context, operation),
      ...commonHeaders(context),
    ],
    body,
    tenant,
  };
}

function credentialsFor(context: Context, operation: Operation) {
  return operation.forMerchants ? { ...merchantCredentials(context), form: {} } : clientCredentials(context);
}

const ODD_TYPES = [
  'application/json; charset=utf-16',
  'application/json;charset=utf-8;charset=latin1',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'APPLICATION/JSON',
  'application/json,text/html',
  'application/jsonx',
  'json',
  '*/*',
  ';',
] as const;

function bodyFor(
  context: Context,
  { body }: Operation,
  form: Readonly<Record<string, string>>,
): { body: Buffer | null; type: string | null } {
  const { random } = context;
  if (body === null)
    return random.chance(0.04)
      ? { body: Buffer.from(random.pick(['{}', '{"a":1}', 'x', ''])), type: 'application/json' }
      : { body: null, type: null };
  const isForm = body.type !== 'application/json';
  const type = random.chance(0.04) ? random.pick(ODD_TYPES) : body.type;
  return { body: isForm ? formBody(context, body, form) : jsonBody(context, body), type };
}

function idempotencyHeader(context: Context, { parameters }: Operation): FuzzRequest['headers'] {
  const { random, tenant, other, index } = context;
  if (!parameters.some(({ name }) => name === 'Idempotency-Key') || random.chance(0.3)) return [];
  const chance = random.fraction();
  const used = chance < 0.2 ? tenant.idempotencyKeys : chance < 0.35 ? other.idempotencyKeys : null;
  const fresh = chance > 0.95 ? printable(hostileText(random)).slice(0, 400) : `${tenant.word}-${index}-key`;
  const key = used?.pick(random) ?? fresh;
  tenant.idempotencyKeys.add(key);
  return [['idempotency-key', key]];
}

function resumeHeader(context: Context, { parameters }: Operation): FuzzRequest['headers'] {
  const { random, tenant, other } = context;
  if (!parameters.some(({ name }) => name === 'Last-Event-ID') || random.chance(0.5)) return [];
  const owner = random.chance(0.5) ? tenant : other;
  return [['last-event-id', owner.pool('events').pick(random) ?? printable(hostileText(random))]];
}

const ODD_HEADERS: readonly [[string, string], ...[string, string][]] = [
  ['x-http-method-override', 'DELETE'],
  ['x-original-url', '/balance'],
  ['x-request-id', '11111111-1111-4111-8111-111111111111'],
  ['range', 'bytes=0-1'],
  ['if-none-match', '*'],
  ['accept', 'application/xml;q=1, */*;q=0'],
  ['accept-encoding', 'gzip, br;q=0, *'],
  ['content-encoding', 'gzip'],
  ['expect', '100-continue'],
  ['origin', 'null'],
  ['cookie', `a=${'b'.repeat(2000)}`],
  ['x-large', 'x'.repeat(7000)],
  ['x-bytes', '\u00ff\u0080é😀'],
  ['te', 'trailers'],
  ['forwarded', 'for=127.0.0.1;host=evil'],
  ['x-forwarded-host', 'evil.example'],
  ['x-forwarded-proto', 'javascript'],
  ['__proto__', 'x'],
  ['upgrade-insecure-requests', '1'],
];

/** Each request comes from one of many addresses, because some limits count by address. */
export function commonHeaders(context: Context): [string, string][] {
  const { random } = context;
  const headers: [string, string][] = [
    ['x-forwarded-for', `10.${random.integer(0, 255)}.${random.integer(0, 255)}.${random.integer(1, 254)}`],
  ];
  if (random.chance(0.2))
    headers.push(['accept-language', random.pick(['es-CO', 'en', 'de, *;q=0', ';;;', 'es'.repeat(500)])]);
  if (random.chance(0.06)) headers.push(oddHeader(context));
  return headers;
}

function oddHeader({ random }: Context): [string, string] {
  return oneOf(random, ODD_HEADERS);
}
