import type { JsonSchema, OpenApiDocument } from '../../server/src/http/docs/openapi-types.ts';
import { resolveItems, type Shape } from './schema-shape.ts';

/** One constraint of a value: text, then literals shown as code. */
export interface Rule {
  readonly text: string;
  readonly literals: readonly string[];
}

// Formats that explain themselves better than the generated pattern.
const FORMATS_THAT_EXPLAIN_THEMSELVES = new Set(['uuid', 'email', 'date-time', 'date', 'uri', 'e164']);

function textRule(text: string): Rule {
  return { text, literals: [] };
}

function literal(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const grouped = new Intl.NumberFormat('en-US', { maximumFractionDigits: 20 });

function range(minimum: number | undefined, maximum: number | undefined, unit: string): Rule[] {
  const suffix = unit === '' ? '' : ` ${unit}`;
  if (minimum !== undefined && minimum === maximum)
    return [textRule(`exactly ${grouped.format(minimum)}${suffix}`)];
  if (minimum !== undefined && maximum !== undefined) {
    return [textRule(`${grouped.format(minimum)} to ${grouped.format(maximum)}${suffix}`)];
  }
  if (minimum !== undefined) return [textRule(`at least ${grouped.format(minimum)}${suffix}`)];
  if (maximum !== undefined) return [textRule(`at most ${grouped.format(maximum)}${suffix}`)];
  return [];
}

// Generators limit every integer to the safe range of a double, which is not a rule of the API.
function meaningful(bound: number | undefined): number | undefined {
  return bound !== undefined && Math.abs(bound) >= Number.MAX_SAFE_INTEGER ? undefined : bound;
}

function valueRules(schema: JsonSchema): Rule[] {
  const rules: Rule[] = [];
  if ('const' in schema && schema.const !== undefined) {
    rules.push({ text: 'always', literals: [literal(schema.const)] });
  } else if (schema.enum !== undefined && schema.enum.length > 0) {
    rules.push({ text: 'one of', literals: schema.enum.map(literal) });
  }
  rules.push(...range(meaningful(schema.minimum), meaningful(schema.maximum), ''));
  if (typeof schema.exclusiveMinimum === 'number') {
    rules.push(textRule(`greater than ${grouped.format(schema.exclusiveMinimum)}`));
  }
  if (typeof schema.exclusiveMaximum === 'number') {
    rules.push(textRule(`less than ${grouped.format(schema.exclusiveMaximum)}`));
  }
  if (schema.multipleOf !== undefined)
    rules.push(textRule(`a multiple of ${grouped.format(schema.multipleOf)}`));
  rules.push(...range(schema.minLength, schema.maxLength, 'characters'));
  if (schema.format !== undefined) rules.push({ text: 'format', literals: [schema.format] });
  if (schema.pattern !== undefined && !FORMATS_THAT_EXPLAIN_THEMSELVES.has(schema.format ?? '')) {
    rules.push({ text: 'pattern', literals: [schema.pattern] });
  }
  return rules;
}

function allConstants(variants: readonly Shape[]): readonly unknown[] {
  const constants = variants.filter(({ schema }) => 'const' in schema).map(({ schema }) => schema.const);
  return constants.length === variants.length ? constants : [];
}

export function listRules(document: OpenApiDocument, shape: Shape): readonly Rule[] {
  const { schema } = shape;
  const rules = valueRules(schema);
  const constants = allConstants(shape.variants);
  if (constants.length > 0) rules.push({ text: 'one of', literals: constants.map(literal) });
  rules.push(...range(schema.minItems, schema.maxItems, 'items'));
  if (schema.uniqueItems === true) rules.push(textRule('unique items'));
  const items = resolveItems(document, shape);
  if (items !== undefined && !items.cyclic) {
    for (const rule of listRules(document, items)) rules.push({ ...rule, text: `each item ${rule.text}` });
  }
  if (schema.default !== undefined) rules.push({ text: 'default', literals: [literal(schema.default)] });
  return rules;
}
