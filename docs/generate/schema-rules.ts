import type { JsonSchema, OpenApiDocument } from '../../server/src/http/docs/openapi-types.ts';
import { itemsOf, type Shape } from './schema-shape.ts';

/** One thing a value must respect: words, then literals shown as code. */
export interface Rule {
  readonly words: string;
  readonly literals: readonly string[];
}

// Formats whose name says more than the long expression a generator writes beside them.
const FORMATS_THAT_EXPLAIN_THEMSELVES = new Set(['uuid', 'email', 'date-time', 'date', 'uri', 'e164']);

function words(text: string): Rule {
  return { words: text, literals: [] };
}

function literal(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

function range(minimum: number | undefined, maximum: number | undefined, unit: string): Rule[] {
  const suffix = unit === '' ? '' : ` ${unit}`;
  if (minimum !== undefined && minimum === maximum)
    return [words(`exactly ${grouped.format(minimum)}${suffix}`)];
  if (minimum !== undefined && maximum !== undefined) {
    return [words(`${grouped.format(minimum)} to ${grouped.format(maximum)}${suffix}`)];
  }
  if (minimum !== undefined) return [words(`at least ${grouped.format(minimum)}${suffix}`)];
  if (maximum !== undefined) return [words(`at most ${grouped.format(maximum)}${suffix}`)];
  return [];
}

// Generators bound every integer by what a double holds. That is no rule of the interface.
function meaningful(bound: number | undefined): number | undefined {
  return bound !== undefined && Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound;
}

function valueRules(schema: JsonSchema): Rule[] {
  const rules: Rule[] = [];
  if ('const' in schema && schema.const !== undefined) {
    rules.push({ words: 'always', literals: [literal(schema.const)] });
  } else if (schema.enum !== undefined && schema.enum.length > 0) {
    rules.push({ words: 'one of', literals: schema.enum.map(literal) });
  }
  rules.push(...range(meaningful(schema.minimum), meaningful(schema.maximum), ''));
  if (typeof schema.exclusiveMinimum === 'number') {
    rules.push(words(`greater than ${grouped.format(schema.exclusiveMinimum)}`));
  }
  if (typeof schema.exclusiveMaximum === 'number') {
    rules.push(words(`less than ${grouped.format(schema.exclusiveMaximum)}`));
  }
  if (schema.multipleOf !== undefined)
    rules.push(words(`a multiple of ${grouped.format(schema.multipleOf)}`));
  rules.push(...range(schema.minLength, schema.maxLength, 'characters'));
  if (schema.format !== undefined) rules.push({ words: 'format', literals: [schema.format] });
  if (schema.pattern !== undefined && !FORMATS_THAT_EXPLAIN_THEMSELVES.has(schema.format ?? '')) {
    rules.push({ words: 'pattern', literals: [schema.pattern] });
  }
  return rules;
}

function constantsOfAll(variants: readonly Shape[]): readonly unknown[] {
  const constants = variants.filter(({ schema }) => 'const' in schema).map(({ schema }) => schema.const);
  return constants.length === variants.length ? constants : [];
}

export function rulesOf(document: OpenApiDocument, shape: Shape): readonly Rule[] {
  const { schema } = shape;
  const rules = valueRules(schema);
  const constants = constantsOfAll(shape.variants);
  if (constants.length > 0) rules.push({ words: 'one of', literals: constants.map(literal) });
  rules.push(...range(schema.minItems, schema.maxItems, 'items'));
  if (schema.uniqueItems === true) rules.push(words('no item twice'));
  const items = itemsOf(document, shape);
  if (items !== undefined && !items.cyclic) {
    for (const rule of rulesOf(document, items)) rules.push({ ...rule, words: `each item ${rule.words}` });
  }
  if (schema.default !== undefined) rules.push({ words: 'default', literals: [literal(schema.default)] });
  return rules;
}
