import type { Body, OpenApi, Schema } from '../document/openapi.ts';
import { choose } from '../tenants/ring.ts';
import type { Context } from './context.ts';

/** A body that the operation should accept: an example of the document, with the organization's own values. */
export function validBody(context: Context, body: Body): unknown {
  const { random, document } = context;
  const example = random.chance(0.85) ? choose(random, body.examples) : null;
  if (example !== null) return withOwnValues(context, structuredClone(example), body.schema);
  return fromSchema(context, body.schema, '', document, 0);
}

function withOwnValues(context: Context, example: unknown, schema: Schema): unknown {
  if (typeof example !== 'object' || example === null) return example;
  const { random, document } = context;
  const { properties = {} } = resolve(document, schema);
  const members = example as Record<string, unknown>;
  for (const [name, value] of Object.entries(members)) {
    const property = resolve(document, properties[name] ?? {});
    if (typeof value === 'object') withOwnValues(context, value, property);
    else if (typeof value === 'number') members[name] = amount(context);
    else if (typeof value === 'string' && isFree(property)) members[name] = ownText(context, name, value);
  }
  if ('metadata' in properties && random.chance(0.3)) members['metadata'] = metadata(context);
  return members;
}

function isFree({ enum: choices, const: fixed }: Schema): boolean {
  return choices === undefined && fixed === undefined;
}

function metadata({ tenant, index }: Context): Record<string, string> {
  return { [`k-${tenant.word}-${index}`]: `v-${tenant.word}-${index}` };
}

function amount({ random }: Context): number {
  return random.chance(0.9) ? random.integer(100_000, 9_000_000) : random.pick([1, 100, 999_999_999_999]);
}

/** A text with the organization's marker, where the name of the member allows a free text. */
function ownText(context: Context, name: string, example: string): string {
  const { random, tenant, index, sinkUrl } = context;
  const word = `${tenant.word}-${index}`;
  if (/reference|description/i.test(name)) {
    if (random.chance(0.05)) return tenant.references.pick(random) ?? `ref-${word}`;
    return `ref-${word}`;
  }
  if (/email/i.test(name)) return `${tenant.word}.${index}@example.com`;
  if (/phone/i.test(name)) return tenant.phone(index);
  if (/idNumber|document/i.test(name)) return tenant.document(random, index);
  if (name === 'url' && random.chance(0.5)) return `${sinkUrl}/${tenant.name}/${word}`;
  if (/url$/i.test(name)) return `https://${tenant.word}.example/${word}`;
  if (name === 'name') return `${tenant.word}-${index} Rojas`;
  if (name === 'keyString')
    return random.pick([
      '@TESTOK',
      '@TESTOK',
      '@TESTDECLINED',
      '@TESTNOTFOUND',
      '@TESTSUSPENDED',
      '@TESTTIMEOUT',
    ]);
  return example;
}

export function resolve(document: OpenApi, schema: Schema): Schema {
  if (schema.$ref !== undefined)
    return resolve(document, document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {});
  const named = schema.anyOf?.find((each) => each.type !== 'null');
  return named ? resolve(document, named) : schema;
}

/** A value from the schema alone, for operations without examples and for optional members. */
export function fromSchema(
  context: Context,
  schema: Schema,
  name: string,
  document: OpenApi,
  depth: number,
): unknown {
  const { random } = context;
  const own = resolve(document, schema);
  if (own.const !== undefined) return own.const;
  if (own.enum) return choose(random, own.enum);
  const type = Array.isArray(own.type) ? own.type[0] : own.type;
  switch (type) {
    case 'object':
      return objectFrom(context, own, document, depth);
    case 'array':
      return Array.from({ length: random.integer(1, 3) }, () =>
        fromSchema(context, own.items ?? {}, name, document, depth + 1),
      );
    case 'integer':
    case 'number':
      return random.integer(own.minimum ?? 0, Math.min(own.maximum ?? 1000, 9_000_000));
    case 'boolean':
      return random.chance(0.5);
    default:
      return textFrom(context, own, name);
  }
}

function objectFrom(context: Context, schema: Schema, document: OpenApi, depth: number): object {
  const { random } = context;
  if (!schema.properties) return metadata(context);
  const wanted = Object.entries(schema.properties).filter(
    ([name]) => schema.required?.includes(name) || (depth < 4 && random.chance(0.4)),
  );
  return Object.fromEntries(
    wanted.map(([name, property]) => [name, fromSchema(context, property, name, document, depth + 1)]),
  );
}

/** Also for parameters: by format first, then by name. */
export function textFrom(context: Context, { format, pattern, maxLength }: Schema, name: string): string {
  const { random, tenant, index } = context;
  if (format === 'uuid') return ownId(context, name);
  if (format === 'date-time')
    return new Date(Date.UTC(2026, 10, 1) + random.integer(0, 40 * 86_400_000)).toISOString();
  if (pattern === '^\\d{1,9}$') return String(random.pick([1, 2, 10, 50, 100, 100]));
  return ownText(context, name, `${tenant.word}-${index}`).slice(0, maxLength ?? 200);
}

/** An id of the organization for a member of this name; a new one if there is none yet. */
function ownId(context: Context, name: string): string {
  const { tenant, random } = context;
  const kind = name === 'resourceId' ? random.pick(['payins', 'payouts', 'payment-links']) : name;
  return (
    tenant.pool(kind).pick(random) ??
    tenant.pool(kind === 'paymentLinkId' ? 'payment-links' : 'events').pick(random) ??
    unknownId(context)
  );
}

/** A version 7 UUID that does not exist. */
export function unknownId({ random }: Pick<Context, 'random'>): string {
  const hex = (length: number) => Array.from({ length }, () => random.integer(0, 15).toString(16)).join('');
  return `019b${hex(4)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(12)}`;
}
