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
import { isMerchantOperation, type Operation } from './operation.ts';

/** Problems any operation can answer, beyond its own. */
const COMMON: readonly ErrorCode[] = [
  'malformed_request',
  'invalid_request',
  'unknown_field',
  'overloaded',
  'service_unavailable',
  'internal_error',
];
const OF_MERCHANTS: readonly ErrorCode[] = ['unauthorized', 'insufficient_scope', 'rate_limited'];
const OF_BODIES: readonly ErrorCode[] = ['malformed_json', 'payload_too_large', 'unsupported_media_type'];

export const problemSchema = z
  .object({
    type: z.url().describe('Page about this problem.'),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    instance: z.string(),
    code: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .describe('Stable; the only member to branch on.'),
    requestId: z.string().describe('Quote it when you ask for help.'),
    errors: z
      .array(z.object({ path: z.string(), code: z.string(), message: z.string() }))
      .optional()
      .describe('Each field that is wrong.'),
  })
  .meta({ id: 'Problem' });

const IDEMPOTENCY_KEY: ParameterObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Makes a repeat safe: the same key with the same body gives the same answer for 30 days, with `Idempotent-Replayed: true`.',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  example: 'order-1001-attempt',
};

const LAST_EVENT_ID: ParameterObject = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description:
    'The last event you have. Browsers and libraries for server-sent events send it by themselves.',
  schema: { type: 'string', format: 'uuid' },
  example: '019b2c5e-b1c2-7d3e-8001-7a8b9c0d1e2f',
};

/** The OpenAPI 3.1 document, made from the operations themselves. */
export function openApiDocument(
  baseUrl: string,
): OpenApiDocument & { readonly servers: readonly { readonly url: string }[] } {
  const schemas: Record<string, JsonSchema> = {};
  const paths: Record<string, Record<string, OperationObject>> = {};
  for (const operation of OPERATIONS) {
    const methods = (paths[operation.path] ??= {});
    methods[operation.method.toLowerCase()] = operationObject(operation, schemas);
  }
  schemaOf(problemSchema, 'output', schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Caudal',
      version: '1.0',
      description:
        'Payins, payouts and hosted payment links on Colombia’s Bre-B and PSE rails.\n\nAmounts are integer cents of a peso. Times are UTC with milliseconds. Paths carry no version; changes are additive. Unknown fields are refused.',
    },
    servers: [{ url: baseUrl }],
    tags: [
      { name: 'Authentication', description: 'How a credential is obtained.' },
      { name: 'Payins', description: 'Collect money from a payer.' },
      { name: 'Payouts', description: 'Send money to a Bre-B key, and see first whose it is.' },
      { name: 'Payment links', description: 'A page on which a payer pays, by the method of their choice.' },
      { name: 'Balance', description: 'The money we hold for you, and every movement of it.' },
      { name: 'PSE', description: 'Data of the PSE rail.' },
      { name: 'Webhooks', description: 'Where your events are sent, and what came of it.' },
      { name: 'Events', description: 'Every final outcome, to read, to follow live and to have sent again.' },
    ],
    paths,
    components: {
      schemas,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'x-api-key',
          description: 'An API key: `cdl_test_…` in staging, `cdl_live_…` in production.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'An access token of `POST /oauth/token`.' },
        basic: { type: 'http', scheme: 'basic', description: "The key's id and the whole API key." },
      },
    },
  };
}

function operationObject(operation: Operation, schemas: Record<string, JsonSchema>): OperationObject {
  const merchant = isMerchantOperation(operation);
  const problems = problemsOf(operation);
  return {
    operationId: operation.operationId,
    tags: [operation.tag],
    summary: operation.summary,
    description: operation.description,
    ...(merchant ? { 'x-scope': operation.scope } : {}),
    'x-problem-codes': problems,
    security: merchant
      ? operation.shows === 'bearer'
        ? [{ bearer: [] }, { apiKey: [] }]
        : [{ apiKey: [] }, { bearer: [] }]
      : [{ basic: [] }, {}],
    parameters: [
      ...parametersOf(operation.params, 'path', schemas),
      ...parametersOf(operation.query, 'query', schemas),
      ...(operation.idempotent ? [IDEMPOTENCY_KEY] : []),
      ...(operation.resumes ? [LAST_EVENT_ID] : []),
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

/** A form has no null: its absent members are left out. */
function bodySchema(
  body: z.ZodType,
  bodyType: Operation['bodyType'],
  schemas: Record<string, JsonSchema>,
): JsonSchema {
  const schema = schemaOf(body, 'input', schemas);
  if (bodyType !== undefined) return schema;
  const name = schema.$ref?.split('/').at(-1);
  const shared = name === undefined ? undefined : schemas[name];
  if (name === undefined || shared === undefined) return acceptingNull(schema);
  schemas[name] = acceptingNull(shared);
  return schema;
}

function problemsOf(operation: Operation): ErrorCode[] {
  const all = [
    ...operation.problems,
    ...(isMerchantOperation(operation) ? OF_MERCHANTS : []),
    ...(operation.body ? OF_BODIES : []),
    ...COMMON,
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
      description: 'Names this request in our logs.',
      schema: { type: 'string' as const },
    },
  };
  const limits = {
    'RateLimit-Policy': {
      description:
        'Your limit: `q` requests in `w` seconds, for `"writes"` or `"reads"`. Absent where there is none.',
      schema: { type: 'string' as const },
    },
    RateLimit: {
      description: 'What is left of it: `r` requests in the next `t` seconds.',
      schema: { type: 'string' as const },
    },
  };
  const replayed = {
    'Idempotent-Replayed': {
      description: '`true` when the answer is a repeat.',
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
          content: { [type]: { schema: schemaOf(schema, 'output', schemas), example } },
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

function parametersOf(
  schema: z.ZodType | undefined,
  where: 'path' | 'query',
  schemas: Record<string, JsonSchema>,
): ParameterObject[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema, 'input', schemas);
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

/** JSON Schema of a zod schema; those with an id of their own become shared components. */
function schemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  schemas: Record<string, JsonSchema>,
): JsonSchema {
  const {
    $schema: _,
    $defs = {},
    ...own
  } = z.toJSONSchema(schema, { io, target: 'draft-2020-12', unrepresentable: 'any' }) as JsonSchema & {
    $schema?: string;
    $defs?: Record<string, JsonSchema>;
  };
  for (const [name, definition] of Object.entries($defs)) schemas[name] = relocated(definition);
  const { id, ...rest } = own as JsonSchema & { id?: string };
  if (id === undefined) return relocated(rest);
  schemas[id] = relocated(rest);
  return { $ref: `#/components/schemas/${id}` };
}

function relocated(schema: JsonSchema): JsonSchema {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      key === 'id' && typeof value === 'string' ? undefined : value,
    ).replaceAll('"#/$defs/', '"#/components/schemas/'),
  ) as JsonSchema;
}
