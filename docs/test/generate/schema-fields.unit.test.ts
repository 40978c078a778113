import { describe, expect, it } from 'vitest';
import type { JsonSchema, OpenApiDocument } from '../../../server/src/http/docs/openapi-types.ts';
import { openApiDocument } from '../../../server/src/http/openapi.ts';
import { type FieldRow, listFields, type VariantRow } from '../../generate/schema-fields.ts';
import { resolveShape, typeName } from '../../generate/schema-shape.ts';

function documentWith(schemas: Readonly<Record<string, JsonSchema>>): OpenApiDocument {
  return { openapi: '3.1.1', info: { title: 'Test', version: '1' }, paths: {}, components: { schemas } };
}

const empty = documentWith({});

function typeOf(schema: JsonSchema, document: OpenApiDocument = empty): string {
  return typeName(document, resolveShape(document, schema));
}

function named(rows: readonly (FieldRow | VariantRow)[]): readonly string[] {
  return rows.map((row) =>
    row.kind === 'field' ? `${row.parent}${row.name}: ${row.type}` : `(${row.label})`,
  );
}

function rulesFor(schema: JsonSchema): readonly string[] {
  const [row] = listFields(empty, { type: 'object', properties: { it: schema } });
  return row?.kind === 'field' ? row.rules.map((rule) => [rule.text, ...rule.literals].join(' ')) : [];
}

describe('the type of a field', () => {
  it.each<[string, JsonSchema]>([
    ['string | null', { type: ['string', 'null'] }],
    ['string | null', { anyOf: [{ type: 'string' }, { type: 'null' }] }],
    ['string | null', { oneOf: [{ type: 'string' }, { const: null }] }],
    ['string | null', { type: ['string', 'null'], enum: ['A', null] }],
    ['object | null', { anyOf: [{ type: 'object', properties: {} }, { type: 'null' }] }],
    ['string | integer | null', { anyOf: [{ type: 'string' }, { type: 'integer' }, { type: 'null' }] }],
    ['null', { type: 'null' }],
    ['string[]', { type: 'array', items: { type: 'string' } }],
    ['(string | null)[] | null', { type: ['array', 'null'], items: { type: ['string', 'null'] } }],
    ['string', { const: 'COP' }],
    ['string', { enum: ['A', 'B'] }],
    ['any', {}],
  ])('is %s', (expected, schema) => {
    expect(typeOf(schema)).toBe(expected);
  });

  it('is read from schemas written by zod', () => {
    const document = openApiDocument('https://api.example.com');
    const rows = named(listFields(document, { $ref: '#/components/schemas/Payin' }));
    expect(rows).toEqual(
      expect.arrayContaining([
        'confirmedAmountInCents: integer | null',
        'createdAt: string',
        'inlineCustomer: object | null',
        'inlineCustomer.idType: string',
      ]),
    );
  });
});

describe('references', () => {
  it('are resolved, and keywords beside $ref override the referenced schema', () => {
    const document = documentWith({
      Alias: { $ref: '#/components/schemas/Name' },
      Name: { type: 'string', maxLength: 5, description: 'general' },
    });
    const schema: JsonSchema = {
      type: 'object',
      properties: { first: { $ref: '#/components/schemas/Alias', description: 'given name' } },
    };
    expect(listFields(document, schema)).toMatchObject([
      {
        name: 'first',
        type: 'string',
        description: 'given name',
        rules: [{ text: 'at most 5 characters' }],
      },
    ]);
  });

  it('to the schema itself stop after one level', () => {
    const document = documentWith({
      Node: {
        type: 'object',
        properties: {
          name: { type: 'string' },
          parent: { anyOf: [{ $ref: '#/components/schemas/Node' }, { type: 'null' }] },
          children: { type: 'array', items: { $ref: '#/components/schemas/Node' } },
        },
      },
    });
    const rows = listFields(document, { $ref: '#/components/schemas/Node' });
    expect(named(rows)).toEqual(['name: string', 'parent: Node | null', 'children: Node[]']);
    expect(rows[1]).toMatchObject({ description: 'The same fields as Node above.' });
  });

  it('between two schemas, and circular aliases, stop too', () => {
    const document = documentWith({
      A: { type: 'object', properties: { b: { $ref: '#/components/schemas/B' } } },
      B: { type: 'object', properties: { a: { $ref: '#/components/schemas/A' } } },
      Left: { $ref: '#/components/schemas/Right' },
      Right: { $ref: '#/components/schemas/Left' },
    });
    expect(named(listFields(document, { $ref: '#/components/schemas/A' }))).toEqual(['b: object', 'b.a: A']);
    expect(listFields(document, { $ref: '#/components/schemas/Left' })).toEqual([]);
  });

  it('used by two siblings are resolved for both', () => {
    const document = documentWith({ Money: { type: 'object', properties: { cents: { type: 'integer' } } } });
    const money: JsonSchema = { $ref: '#/components/schemas/Money' };
    expect(
      named(listFields(document, { type: 'object', properties: { requested: money, paid: money } })),
    ).toEqual(['requested: object', 'requested.cents: integer', 'paid: object', 'paid.cents: integer']);
  });

  it('to a missing schema throw, also for names of built-in properties', () => {
    expect(() => listFields(empty, { $ref: '#/components/schemas/Missing' })).toThrow('does not exist');
    expect(() => listFields(empty, { $ref: '#/components/schemas/constructor' })).toThrow('does not exist');
    expect(() => listFields(empty, { $ref: 'https://example.com/x.json' })).toThrow('only local references');
  });
});

it('a discriminated union has its shared fields, without the fields of objects that differ', () => {
  const event = (name: string, data: JsonSchema): JsonSchema => ({
    type: 'object',
    properties: { id: { type: 'string' }, event: { type: 'string', const: name }, data },
    required: ['id', 'event', 'data'],
  });
  const document = documentWith({
    Paid: event('paid', { type: 'object', properties: { cents: { type: 'integer' } } }),
    Ended: event('ended', { type: 'object', properties: { reason: { type: 'string' } } }),
    Event: {
      oneOf: [{ $ref: '#/components/schemas/Paid' }, { $ref: '#/components/schemas/Ended' }],
      discriminator: { propertyName: 'event' },
    },
  });
  const extended: JsonSchema = {
    allOf: [
      { $ref: '#/components/schemas/Event' },
      { type: 'object', properties: { deliveries: { type: 'array', items: { type: 'string' } } } },
    ],
  };
  const rows = listFields(document, extended);
  expect(named(rows)).toEqual(['id: string', 'event: string', 'data: object', 'deliveries: string[]']);
  expect(rows[1]).toMatchObject({
    required: true,
    rules: [{ text: 'one of', literals: ['paid', 'ended'] }],
  });
});

describe('the fields of an object', () => {
  it('have the dotted path of their parent, through arrays and additional properties', () => {
    const schema: JsonSchema = {
      type: 'object',
      properties: {
        data: { type: 'array', items: { type: 'object', properties: { id: { type: 'string' } } } },
        labels: { type: 'object', additionalProperties: { type: 'string' } },
      },
    };
    expect(named(listFields(empty, schema))).toEqual([
      'data: object[]',
      'data[].id: string',
      'labels: object',
      'labels.*: string',
    ]);
    expect(
      named(listFields(empty, { type: 'array', items: { type: 'object', properties: { id: {} } } })),
    ).toEqual(['[].id: any']);
  });

  it('are merged from allOf', () => {
    const document = documentWith({
      Base: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
    });
    const rows = listFields(document, {
      allOf: [{ $ref: '#/components/schemas/Base' }, { properties: { name: { type: 'string' } } }],
    });
    expect(rows).toMatchObject([
      { name: 'id', required: true },
      { name: 'name', required: false },
    ]);
  });

  it('show the shared fields of alternatives once, then their differences', () => {
    const rail = (name: string, own: string): JsonSchema => ({
      type: 'object',
      properties: {
        amount: { type: 'integer' },
        rail: { type: 'string', const: name },
        [own]: { type: 'string' },
      },
      required: ['amount', 'rail'],
    });
    expect(named(listFields(empty, { oneOf: [rail('PSE', 'bank'), rail('BRE_B', 'key')] }))).toEqual([
      'amount: integer',
      '(When rail is PSE)',
      'rail: string',
      'bank: string',
      '(When rail is BRE_B)',
      'rail: string',
      'key: string',
    ]);
  });
});

describe('the rules of a field', () => {
  it.each<[string, JsonSchema]>([
    ['1 to 999,999,999,999', { type: 'integer', minimum: 1, maximum: 999_999_999_999 }],
    ['at least 1', { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER }],
    ['greater than 0', { type: 'number', exclusiveMinimum: 0 }],
    ['exactly 4 characters', { type: 'string', minLength: 4, maxLength: 4 }],
    ['always COP', { const: 'COP' }],
    ['one of A B', { enum: ['A', 'B', null] }],
    ['one of A B', { anyOf: [{ const: 'A' }, { const: 'B' }, { type: 'null' }] }],
    ['format uuid', { type: 'string', format: 'uuid', pattern: '^long$' }],
    ['pattern ^[A-Z]+$', { type: 'string', pattern: '^[A-Z]+$' }],
    ['each item one of A', { type: 'array', items: { enum: ['A'] } }],
    ['default 10', { type: 'integer', default: 10 }],
  ])('include "%s"', (expected, schema) => {
    expect(rulesFor(schema)).toEqual([expected]);
  });
});
