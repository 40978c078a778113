import type {
  JsonSchema,
  OpenApiDocument,
  ResponseObject,
} from '../../../server/src/http/docs/openapi-types.ts';

// Similar to the server's document: zod's form of "or null", component references and named examples.

const uuid: JsonSchema = {
  type: 'string',
  format: 'uuid',
  pattern: '^([0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[1-8][0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12})$',
};
const time: JsonSchema = { type: 'string', format: 'date-time' };
const orNull = (schema: JsonSchema, description?: string): JsonSchema => ({
  anyOf: [schema, { type: 'null' }],
  ...(description === undefined ? {} : { description }),
});

const customer: JsonSchema = {
  type: 'object',
  description: 'The person or business that pays.',
  properties: {
    name: { type: 'string', minLength: 1, maxLength: 120, description: 'Full name.' },
    idType: { type: 'string', enum: ['CO_CC', 'CO_CE', 'CO_NIT', 'MXN_RFC', 'PASSPORT'] },
    idNumber: { type: 'string', minLength: 3, maxLength: 20, description: 'Number of the document.' },
    phone: { type: 'string', pattern: '^\\+[1-9]\\d{6,14}$', description: 'With its leading plus sign.' },
    email: { type: 'string', format: 'email', maxLength: 254 },
  },
  required: ['name', 'idType', 'idNumber', 'phone', 'email'],
  additionalProperties: false,
};

const breb: JsonSchema = {
  type: 'object',
  description: 'Bre-B details; needed when `rail` is `BRE_B`.',
  properties: {
    keyType: {
      type: 'string',
      enum: ['SINGLE_USE', 'QR_CODE'],
      description: '`QR_CODE` also returns a QR image.',
    },
    keyString: { type: 'string', description: 'Accepted and not used here.' },
  },
  required: ['keyType'],
};

const pse: JsonSchema = {
  type: 'object',
  description: 'PSE details; needed when `rail` is `PSE`.',
  properties: {
    bank: { type: 'string', pattern: '^[A-Z]{2}_[A-Z0-9_]+$', description: 'A code of `GET /pse/banks`.' },
    personType: { type: 'string', enum: ['INDIVIDUAL', 'BUSINESS'] },
  },
  required: ['bank', 'personType'],
};

const createPayin: JsonSchema = {
  type: 'object',
  properties: {
    amountInCents: {
      type: 'integer',
      minimum: 1,
      maximum: 999_999_999_999,
      description: 'Amount to collect, in cents of a peso.',
    },
    currency: { type: 'string', const: 'COP' },
    rail: { type: 'string', enum: ['BRE_B', 'PSE'] },
    reference: {
      type: 'string',
      minLength: 1,
      maxLength: 100,
      description: 'Your own identifier of the payment. Unique forever.',
    },
    inlineCustomer: { $ref: '#/components/schemas/Customer' },
    pse,
    breb,
    callbackUrl: {
      type: 'string',
      format: 'uri',
      maxLength: 2048,
      description: 'Where the payer returns to. The result comes through events, never through this.',
    },
  },
  required: ['amountInCents', 'currency', 'rail', 'reference'],
  additionalProperties: false,
};

const sourceData: JsonSchema = {
  oneOf: [
    {
      title: 'Bre-B',
      type: 'object',
      properties: {
        keyType: { type: 'string', enum: ['SINGLE_USE', 'QR_CODE'] },
        keyString: { type: 'string', description: 'The key to pay to.' },
        qrString: { type: 'string', description: 'A PNG as a data address; only for `QR_CODE`.' },
        checkoutUrl: { type: 'string', format: 'uri' },
      },
      required: ['keyType', 'keyString', 'checkoutUrl'],
    },
    {
      title: 'PSE',
      type: 'object',
      properties: {
        pseUrl: { type: ['string', 'null'], format: 'uri', description: 'Page of the bank, once known.' },
        bank: { type: 'string' },
      },
      required: ['pseUrl', 'bank'],
    },
  ],
};

const payin: JsonSchema = {
  type: 'object',
  properties: {
    id: { ...uuid, description: 'Identifier of the payin.' },
    amount: { type: 'number', description: 'Pesos: `amountInCents` divided by 100.' },
    amountInCents: { type: 'integer', minimum: -Number.MAX_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    confirmedAmount: { type: ['number', 'null'], description: 'What arrived, in pesos.' },
    confirmedAmountInCents: { type: ['integer', 'null'] },
    currency: { type: 'string', const: 'COP' },
    status: { type: 'string', enum: ['PENDING', 'PROCESSING', 'CONFIRMED', 'DECLINED', 'CANCELED'] },
    settlementStatus: { type: ['string', 'null'], enum: ['PENDING_SETTLEMENT', 'SETTLED', null] },
    rail: { type: 'string', enum: ['BRE_B', 'PSE'] },
    reference: { type: 'string' },
    paymentLinkId: orNull(uuid, 'Set when the payin was born of a payment link.'),
    inlineCustomer: orNull({ $ref: '#/components/schemas/Customer' }),
    errorCode: {
      type: ['string', 'null'],
      description: 'Why it failed; see [the error catalogue](/docs/errors).',
    },
    createdAt: time,
    updatedAt: time,
    resultAt: orNull(time),
    expiresAt: orNull(time),
    organizationId: uuid,
    sourceData: orNull(sourceData, 'What the payer needs on this rail.'),
  },
  required: [
    'id',
    'amount',
    'amountInCents',
    'confirmedAmount',
    'confirmedAmountInCents',
    'currency',
    'status',
    'settlementStatus',
    'rail',
    'reference',
    'createdAt',
    'updatedAt',
    'organizationId',
  ],
};

const problem: JsonSchema = {
  type: 'object',
  description: 'RFC 9457. Branch on `code`; the texts are for people.',
  properties: {
    type: { type: 'string', format: 'uri-reference', description: 'A page about this code.' },
    title: { type: 'string' },
    status: { type: 'integer', minimum: 400, maximum: 599 },
    detail: { type: 'string' },
    instance: { type: 'string' },
    code: { type: 'string', description: 'Stable, in snake_case.' },
    requestId: { type: 'string', description: 'Include it in support requests.' },
    errors: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          path: { type: 'string' },
          code: { type: 'string' },
          message: { type: 'string' },
        },
        required: ['path', 'code', 'message'],
      },
      description: 'One entry for each field that is wrong.',
    },
  },
  required: ['type', 'title', 'status', 'detail', 'code', 'requestId'],
};

const customerExample = {
  name: "María José D'Angelo",
  idType: 'CO_CC',
  idNumber: '1000000001',
  phone: '+573001234567',
  email: 'maria@example.com',
};

const payinExample = {
  id: '0198f3a2-6c1e-7b54-9d0a-3f5e8c21b7d4',
  amount: 49800,
  amountInCents: 4980000,
  confirmedAmount: null,
  confirmedAmountInCents: null,
  currency: 'COP',
  status: 'PROCESSING',
  settlementStatus: null,
  rail: 'BRE_B',
  reference: 'order-1042',
  paymentLinkId: null,
  inlineCustomer: customerExample,
  errorCode: null,
  createdAt: '2026-03-02T15:04:05.123Z',
  updatedAt: '2026-03-02T15:04:05.123Z',
  resultAt: null,
  expiresAt: '2026-03-02T16:04:05.123Z',
  organizationId: '0198f39d-0b6a-7c11-8f4e-5d2c9a1b3e70',
  sourceData: {
    keyType: 'SINGLE_USE',
    keyString: '@CDL7Q2M9XK',
    checkoutUrl: 'https://pay.example.com/p/0198f3a26c1e',
  },
};

const failure = (description: string): ResponseObject => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
});

export const referenceDocument: OpenApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'Caudal API',
    version: '1.0',
    summary: 'Collect and send pesos on Bre-B and PSE.',
    description:
      'Bodies are JSON. Amounts are whole cents (`amountInCents`), times are UTC with milliseconds, identifiers are UUIDs.\n\nCreating a payin or a payout is never the outcome:\n\n- the outcome comes as an **event**;\n- or you read the resource again.',
  },
  tags: [
    { name: 'Payins', description: 'Money collected from a payer.' },
    { name: 'Access', description: 'Tokens for programs that prefer them to a key.' },
  ],
  security: [{ apiKey: [] }, { bearer: [] }],
  paths: {
    '/payins': {
      post: {
        operationId: 'createPayin',
        tags: ['Payins'],
        summary: 'Create a payin',
        description:
          'Starts collecting an amount from a payer. A Bre-B payin returns the key to pay to; a PSE payin returns the bank page, if the rail provides it within three seconds.',
        'x-scope': 'payins:write',
        'x-problem-codes': [
          'invalid_input',
          'unknown_field',
          'rail_not_enabled',
          'unauthorized',
          'scope_missing',
          'reference_taken',
          'idempotency_in_flight',
          'idempotency_mismatch',
          'rate_limited',
        ],
        parameters: [
          {
            name: 'Idempotency-Key',
            in: 'header',
            schema: { type: 'string', minLength: 1, maxLength: 255 },
            description: 'Makes a repeat of the request harmless for 30 days.',
            example: 'order-1042-attempt-1',
          },
        ],
        requestBody: {
          required: true,
          content: {
            'application/json': {
              schema: { $ref: '#/components/schemas/CreatePayin' },
              examples: {
                breb: {
                  summary: 'Bre-B with a key',
                  value: {
                    amountInCents: 4980000,
                    currency: 'COP',
                    rail: 'BRE_B',
                    reference: 'order-1042',
                    breb: { keyType: 'SINGLE_USE' },
                    inlineCustomer: customerExample,
                  },
                },
                pse: {
                  summary: 'PSE',
                  value: {
                    amountInCents: 4980000,
                    currency: 'COP',
                    rail: 'PSE',
                    reference: 'order-1043',
                    pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' },
                  },
                },
              },
            },
          },
        },
        responses: {
          '201': {
            description: 'The payin was created.',
            headers: {
              'Idempotent-Replayed': {
                schema: { type: 'string', const: 'true' },
                description: 'On a repeat only.',
              },
            },
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Payin' }, example: payinExample },
            },
          },
          '400': {
            description: 'The request is invalid.',
            content: {
              'application/problem+json': {
                schema: { $ref: '#/components/schemas/Problem' },
                example: {
                  type: '/docs/errors/invalid_input',
                  title: 'The request is invalid',
                  status: 400,
                  code: 'invalid_input',
                  errors: [{ path: 'amountInCents', code: 'too_small', message: 'must be at least 1' }],
                },
              },
            },
          },
          '401': { $ref: '#/components/responses/Unauthorized' },
          '409': failure('The reference or the idempotency key is in use.'),
        },
      },
      get: {
        operationId: 'listPayins',
        tags: ['Payins'],
        summary: 'List payins',
        description: 'Newest first, a page at a time.',
        'x-scope': 'payins:read',
        'x-problem-codes': ['invalid_input', 'unauthorized'],
        parameters: [
          {
            name: 'cursor',
            in: 'query',
            schema: { type: 'string' },
            description: 'From an earlier `pageInfo`.',
          },
          {
            name: 'pageSize',
            in: 'query',
            schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
            example: 20,
          },
          {
            name: 'status',
            in: 'query',
            schema: { type: 'string', enum: ['PENDING', 'CONFIRMED'] },
            example: 'CONFIRMED',
          },
          { name: 'createdFrom', in: 'query', schema: { ...time, examples: ['2026-03-01T00:00:00.000Z'] } },
        ],
        responses: {
          '200': {
            description: 'A page of payins.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    data: { type: 'array', items: { $ref: '#/components/schemas/Payin' } },
                    pageInfo: {
                      type: 'object',
                      properties: {
                        hasNext: { type: 'boolean' },
                        hasPrevious: { type: 'boolean' },
                        nextCursor: { type: ['string', 'null'] },
                        previousCursor: { type: ['string', 'null'] },
                      },
                      required: ['hasNext', 'hasPrevious', 'nextCursor', 'previousCursor'],
                    },
                  },
                  required: ['data', 'pageInfo'],
                },
                example: {
                  data: [payinExample],
                  pageInfo: { hasNext: false, hasPrevious: false, nextCursor: null, previousCursor: null },
                },
              },
            },
          },
          '401': { $ref: '#/components/responses/Unauthorized' },
        },
      },
    },
    '/payins/{id}': {
      parameters: [
        {
          name: 'id',
          in: 'path',
          required: true,
          schema: { ...uuid, examples: ['0198f3a2-6c1e-7b54-9d0a-3f5e8c21b7d4'] },
          description: 'Identifier of the payin.',
        },
      ],
      get: {
        operationId: 'getPayin',
        tags: ['Payins'],
        summary: 'Read a payin',
        'x-scope': 'payins:read',
        'x-problem-codes': ['unauthorized', 'not_found'],
        responses: {
          '200': {
            description: 'The payin.',
            content: {
              'application/json': { schema: { $ref: '#/components/schemas/Payin' }, example: payinExample },
            },
          },
          '401': { $ref: '#/components/responses/Unauthorized' },
          '404': failure("No such payin, or another organization's."),
        },
      },
    },
    '/oauth/token': {
      post: {
        operationId: 'createToken',
        tags: ['Access'],
        summary: 'Get an access token',
        description:
          'Client credentials: the key id and the key, as Basic credentials. The token lives one hour.',
        security: [{ basic: [] }],
        'x-problem-codes': ['unauthorized', 'rate_limited'],
        requestBody: {
          required: true,
          content: {
            'application/x-www-form-urlencoded': {
              schema: {
                type: 'object',
                properties: {
                  grant_type: { type: 'string', const: 'client_credentials' },
                  scope: {
                    type: 'string',
                    description: 'Scopes separated by spaces; default: all scopes of the key.',
                  },
                },
                required: ['grant_type'],
              },
              example: { grant_type: 'client_credentials', scope: 'payins:read payins:write' },
            },
          },
        },
        responses: {
          '200': {
            description: 'A token.',
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  properties: {
                    access_token: { type: 'string' },
                    token_type: { type: 'string', const: 'Bearer' },
                    expires_in: { type: 'integer', description: 'Seconds.' },
                  },
                  required: ['access_token', 'token_type', 'expires_in'],
                },
                example: { access_token: 'cdl_at_4f0c…', token_type: 'Bearer', expires_in: 3600 },
              },
            },
          },
          '401': { $ref: '#/components/responses/Unauthorized' },
        },
      },
    },
  },
  components: {
    schemas: { Customer: customer, CreatePayin: createPayin, Payin: payin, Problem: problem },
    responses: { Unauthorized: failure('No credential, or one that is not valid.') },
    securitySchemes: {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: 'The key of your organization.',
      },
      bearer: { type: 'http', scheme: 'bearer', description: 'A token of `POST /oauth/token`.' },
      basic: { type: 'http', scheme: 'basic', description: 'Only to get a token.' },
    },
  },
};
