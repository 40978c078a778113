import { type ApiDocument, findSchema, refName, type Schema } from './document.ts';
import { NAMED, RENAMED } from './surface.ts';

/** `read`: sent by the server. `sent`: written by SDK users, who may omit fields or pass `undefined`. */
export type Direction = 'read' | 'sent';

/** Writes JSON schemas as TypeScript. */
export class TypeWriter {
  readonly #named = new Map<string, string>();

  constructor(document: ApiDocument) {
    for (const [name, place] of Object.entries(NAMED))
      this.#named.set(schemaFingerprint(schemaAt(document, place)), name);
  }

  /** @param own name of the definition being written, so that it does not reference itself */
  type(schema: Schema, direction: Direction, own?: string): string {
    const named = this.#named.get(schemaFingerprint(schema));
    if (named !== undefined && named !== own) return named;
    const ref = refName(schema);
    if (ref !== null) return RENAMED[ref] ?? ref;
    if (schema.const !== undefined) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
    const alternatives = schema.anyOf ?? schema.oneOf;
    if (alternatives) return alternatives.map((each) => this.type(each, direction, own)).join(' | ');
    if (schema.allOf) return schema.allOf.map((each) => this.type(each, direction, own)).join(' & ');
    if (Array.isArray(schema.type))
      return schema.type.map((type: string) => this.type({ ...schema, type }, direction, own)).join(' | ');
    return this.#plain(schema, direction);
  }

  #plain(schema: Schema, direction: Direction): string {
    switch (schema.type) {
      case 'object':
        return schema.properties && Object.keys(schema.properties).length > 0
          ? `{\n${this.fields(schema, direction)} }`
          : `Record<string, ${this.#values(schema, direction)}>`;
      case 'array':
        return `${direction === 'sent' ? 'readonly ' : ''}(${this.type(schema.items ?? {}, direction)})[]`;
      case 'string':
        if (schema.pattern === '^\\d{1,9}$') return 'number';
        return direction === 'sent' && schema.format === 'date-time' ? 'string | Date' : 'string';
      case 'number':
      case 'integer':
        return 'number';
      case 'boolean':
        return 'boolean';
      case 'null':
        return 'null';
      default:
        throw new Error(`sdk/generate cannot convert this schema to TypeScript: ${JSON.stringify(schema)}`);
    }
  }

  /** The type of the values of a map. */
  #values({ additionalProperties: values }: Schema, direction: Direction): string {
    return typeof values === 'object' && Object.keys(values).length > 0
      ? this.type(values, direction)
      : 'unknown';
  }

  fields(schema: Schema, direction: Direction): string {
    return Object.entries(schema.properties ?? {})
      .map(([name, property]) =>
        this.field(name, property, schema.required?.includes(name) ?? false, direction),
      )
      .join('\n');
  }

  field(name: string, property: Schema, required: boolean, direction: Direction): string {
    const type = this.type(property, direction);
    const text = required
      ? `${name}: ${type};`
      : `${name}?: ${type}${direction === 'sent' ? ' | undefined' : ''};`;
    return `${comment([property.description ?? '', direction === 'sent' ? rules(property) : ''])}${text}`;
  }
}

/** Finds a schema by a path such as `Payin.status` or `DeliveryList.data[].attempts[]`, ignoring null alternatives. */
export function schemaAt(document: ApiDocument, place: string): Schema {
  const [root = '', ...steps] = place.replaceAll('[]', '.[]').split('.');
  let schema = findSchema(document, root);
  for (const step of steps) {
    const next = step === '[]' ? schema.items : schema.properties?.[step];
    if (!next) throw new Error(`openapi.json has no ${place}: update sdk/generate/surface.ts`);
    schema = next.anyOf?.find((each) => each.type !== 'null') ?? next;
  }
  return schema;
}

/** Equal for schemas that differ only in descriptions and examples. */
function schemaFingerprint(schema: Schema): string {
  return JSON.stringify(schema, (key, value: unknown) =>
    key === 'description' || key === 'example' ? undefined : value,
  );
}

function rules({ type: types, minimum, maximum, minLength, maxLength, format }: Schema): string {
  const type = Array.isArray(types) ? types.find((each: string) => each !== 'null') : types;
  if (type === 'integer' && minimum !== undefined && maximum !== undefined)
    return `${minimum.toLocaleString('en')} to ${maximum.toLocaleString('en')}.`;
  if (type !== 'string' || format === 'date-time' || maxLength === undefined) return '';
  return `${minLength === undefined ? 'At most' : `${minLength} to`} ${maxLength.toLocaleString('en')} characters.`;
}

/** A doc comment of paragraphs; empty without text. */
export function comment(paragraphs: readonly string[]): string {
  const texts = paragraphs.filter((each) => each !== '');
  if (texts.length === 0) return '';
  const lines = texts.join('\n').replaceAll('*/', '*\\/').split('\n');
  return lines.length === 1
    ? `/** ${lines[0]} */\n`
    : `/**\n${lines.map((line) => ` * ${line}`.trimEnd()).join('\n')}\n */\n`;
}
