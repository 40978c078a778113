import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../kit/error-catalogue.ts';
import { OPERATIONS } from './api/operations.ts';
import type {
  JsonSchema,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from './docs/openapi-types.ts';
import { acceptingNull } from './null-fields.ts';
import { webhookObjects } from './openapi-webhooks.ts';
import { isMerchantOperation, type Operation } from './operation.ts';
import { MAX_FIELD_ERRORS } from './validation.ts';

/** Errors that any operation can return, besides its own. */
const COMMON_ERRORS: readonly ErrorCode[] = [
  'malformed_request',
  'invalid_request',
  'unknown_field',
  'overloaded',
  'service_unavailable',
  'internal_error',
];
const MERCHANT_ERRORS: readonly ErrorCode[] = [
  'unauthorized',
  'address_not_allowed',
  'insufficient_scope',
  'rate_limited',
];
const BODY_ERRORS: readonly ErrorCode[] = ['malformed_json', 'payload_too_large', 'unsupported_media_type'];

/** Some codes have further members, such as `existingId`. */
export const problemSchema = z
  .looseObject({
    type: z.url().describe('URL of the documentation of this error.'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .describe('Stable error code. Branch on this member only.'),
    requestId: z.string().describe('Identifier of the request. Include it when you contact support.'),
    errors: z
      .array(z.object({ path: z.string(), code: z.string(), message: z.string() }))
      .max(MAX_FIELD_ERRORS)
      .optional()
      .describe('The invalid fields; at most 20 of them.'),
  })
  .meta({ id: 'Problem' });

const IDEMPOTENCY_KEY: ParameterObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes retries safe: for 30 days, the same key with the same body returns the same response, with `Idempotent-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: 'order-1001-attempt',
};

const LAST_EVENT_ID: ParameterObject = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Identifier of the last event you received. Browsers and SSE libraries send it automatically.',
  schema: { type: 'string', format: 'uuid' },
  example: '019b2c5e-b1c2-7d3e-8001-7a8b9c0d1e2f',
};

/** Generates the OpenAPI 3.1 document from the operations. */
export function openApiDocument(
  baseUrl: string,
): OpenApiDocument & { readonly servers: readonly { readonly url: string }[] } {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of OPERATIONS) {
    const methods = (paths[operation.path] ??= {});
    methods[operation.method.toLowerCase()] = operationObject(operation, schemas);
  }
  const webhooks = webhookObjects((schema) => toJsonSchema(schema, 'output', schemas));
  toJsonSchema(problemSchema, 'output', schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Caudal',
      version: '1.0',
      description:
        'Payins, payouts and hosted payment links on Colombia’s Bre-B and PSE rails.\n\nAmounts are integers in cents (1 peso = 100 cents). Times are UTC with milliseconds. Paths have no version; changes are additive. Requests with unknown fields are rejected.',
      contact: { name: 'Documentation', url: `${baseUrl}/docs` },
      license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'Authentication', description: 'Get an access token.' },
      { name: 'Payins', description: 'Collect money from a payer.' },
      { name: 'Payouts', description: 'Send money to a Bre-B key, and look up its holder first.' },
      { name: 'Payment links', description: 'Hosted pages where a payer chooses a method and pays.' },
      { name: 'Balance', description: 'Your balance and its ledger entries.' },
      { name: 'PSE', description: 'Banks of the PSE rail.' },
      { name: 'Webhooks', description: 'Endpoints that receive your events, and their deliveries.' },
      {
        name: 'Events',
        description: 'Final outcomes: list them, stream them live, replay their deliveries.',
      },
    ],
    paths,
    webhooks,
    components: {
      schemas,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An API key: `cdl_test_…` in staging, `cdl_live_…` in production.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token from `POST /oauth/token`.' },
        basic: {
          type: 'http',
          scheme: 'basic',
          description: "User name: the API key's id. Password: the full API key.",
        },
      },
    },
  };
}

function operationObject(operation: Operation, schemas: Record<string, JsonSchema>): OperationObject {
  const merchant = isMerchantOperation(operation);
  const problems = listProblems(operation);
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    ...(merchant ? { 'x-scope': operation.scope } : {}),
    'x-problem-codes': problems,
    security: merchant
      ? operation.preferredAuth === 'bearer'
        ? [{ bearer: [] }, { apiKey: [] }]
        : [{ apiKey: [] }, { bearer: [] }]
      : [{ basic: [] }, {}],
    parameters: [
      ...toParameters(operation.params, 'path', schemas),
      ...toParameters(operation.query, 'query', schemas),
      ...(operation.idempotent ? [IDEMPOTENCY_KEY] : []),
      ...(operation.resumable ? [LAST_EVENT_ID] : []),
    ],
    ...(operation.body
      ? {
          requestBody: {
            required: true,
            content: {
              [operation.bodyType ?? 'application/json']: {
                schema: bodySchema(operation.body, operation.bodyType, schemas),
                ...(operation.bodyExamples ? { examples: operation.bodyExamples } : {}),
              },
            },
          },
        }
      : {}),
    responses: { ...successes(operation, schemas), ...failures(problems) },
  };
}

/** Optional members of a JSON body accept null. Form bodies have no null. */
function bodySchema(
  body: z.ZodType,
  bodyType: Operation['bodyType'],
  schemas: Record<string, JsonSchema>,
): JsonSchema {
  const schema = toJsonSchema(body, 'input', schemas);
  if (bodyType !== undefined) return schema;
  const name = schema.$ref?.split('/').at(-1);
  const shared = name === undefined ? undefined : schemas[name];
  if (name === undefined || shared === undefined) return acceptingNull(schema);
  schemas[name] = acceptingNull(shared);
  return schema;
}

function listProblems(operation: Operation): ErrorCode[] {
  const all = [
    ...operation.problems,
    ...(isMerchantOperation(operation) ? MERCHANT_ERRORS : []),
    // A body is parsed even where none is expected.
    ...(operation.method === 'GET' ? [] : BODY_ERRORS),
    ...COMMON_ERRORS,
  ];
  return [...new Set(all)].sort((a, b) => ERRORS[a].status - ERRORS[b].status);
}

function successes(
  operation: Operation,
  schemas: Record<string, JsonSchema>,
): Record<string, ResponseObject> {
  const requestId = {
    'X-Request-Id': {
      required: true,
      description:
        'Identifier of the request, for support: yours from `X-Request-Id` if it has 1 to 64 characters of `A-Z a-z 0-9 . _ : -` and does not start with `req_`, otherwise a new one.',
      schema: { type: 'string' as const },
    },
  };
  const limits = {
    'RateLimit-Policy': {
      description:
        'Your limit: `q` requests in `w` seconds, for `"writes"` or `"reads"`. Absent if there is no limit.',
      schema: { type: 'string' as const },
    },
    RateLimit: {
      description: 'Remaining quota: `r` requests in the next `t` seconds.',
      schema: { type: 'string' as const },
    },
  };
  const replayed = {
    'Idempotent-Replayed': {
      description: '`true` if the response repeats an earlier one.',
      schema: { type: 'string' as const, enum: ['true'] },
    },
  };
  return Object.fromEntries(
    Object.entries(operation.responses).map(
      ([status, { description, schema, example, type = 'application/json' }]) => [
        status,
        {
          description,
          headers: {
            ...requestId,
            ...(isMerchantOperation(operation) ? limits : {}),
            ...(operation.idempotent ? replayed : {}),
          },
          content: { [type]: { schema: toJsonSchema(schema, 'output', schemas), example } },
        },
      ],
    ),
  );
}

function failures(problems: readonly ErrorCode[]): Record<string, ResponseObject> {
  const byStatus = Map.groupBy(problems, (code) => String(ERRORS[code].status));
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\``).join(', '),
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    ]),
  );
}

function toParameters(
  schema: z.ZodType | undefined,
  where: 'path' | 'query',
  schemas: Record<string, JsonSchema>,
): ParameterObject[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = toJsonSchema(schema, 'input', schemas);
  return Object.entries(properties).map(([name, property]) => {
    const { description, example, ...rest } = property as JsonSchema;
    return {
      name,
      in: where,
      required: where === 'path' || required.includes(name),
      ...(description === undefined ? {} : { description }),
      ...(example === undefined ? {} : { example }),
      schema: rest,
    };
  });
}

/**
 * Converts a zod schema to JSON Schema; schemas with an id become shared components. Objects in responses are open, because
 * members are added without notice and strict clients would reject them; request bodies are closed.
 */
function toJsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  schemas: Record<string, JsonSchema>,
): JsonSchema {
  const {
    $schema: _,
    $defs = {},
    ...own
  } = z.toJSONSchema(schema, {
    io,
    target: 'draft-2020-12',
    unrepresentable: 'any',
    override: ({ jsonSchema }) => {
      if (io === 'output' && jsonSchema.additionalProperties === false)
        delete jsonSchema.additionalProperties;
    },
  }) as JsonSchema & {
    $schema?: string;
    $defs?: Record<string, JsonSchema>;
  };
  const share = (name: string, definition: JsonSchema) => {
    // A schema of requests and responses, such as Customer, is open.
    if (io === 'output' || schemas[name] === undefined) schemas[name] = relocateRefs(definition);
  };
  for (const [name, definition] of Object.entries($defs)) share(name, definition);
  const { id, ...rest } = own as JsonSchema & { id?: string };
  if (id === undefined) return relocateRefs(rest);
  share(id, rest);
  return { $ref: `#/components/schemas/${id}` };
}

function relocateRefs(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'id' && typeof value === 'string' ? undefined : value,
    ).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as JsonSchema;
}
