import { type ApiDocument, listOperations, refName, type Schema } from './document.ts';
import { ABSENT, BY_RAIL, NAMED, RENAMED } from './surface.ts';
import { comment, type Direction, schemaAt, TypeWriter } from './type-text.ts';

/** Per rail: its value in `rail`, its prefix in type names, its member of a request and of `sourceData`. */
const RAILS = [
  { rail: 'BRE_B', prefix: 'Breb', member: 'breb', source: 'keyString' },
  { rail: 'PSE', prefix: 'Pse', member: 'pse', source: 'pseUrl' },
] as const;

/** Every API schema as a type, except lists: the SDK has its own pages. */
export function schemasFile(document: ApiDocument): string {
  const writer = new TypeWriter(document);
  const sent = schemasSent(document);
  const written = Object.entries(document.components.schemas)
    .filter(([name]) => !name.endsWith('List'))
    .map(([name, schema]) => schemaText(writer, name, schema, sent.has(name) ? 'sent' : 'read'));
  const named = Object.entries(NAMED).map(([name, place]) => namedText(document, writer, name, place));
  return [...named, ...written].join('\n\n');
}

function schemaText(writer: TypeWriter, name: string, schema: Schema, direction: Direction): string {
  const about = comment([schema.description ?? '']);
  if (schema.type !== 'object' || schema.properties === undefined)
    return `${about}export type ${RENAMED[name] ?? name} = ${writer.type(schema, direction)};`;
  if (!BY_RAIL.includes(name))
    return `${about}export interface ${name} {\n${writer.fields(schema, direction)}${absent(name)} }`;
  const shapes = RAILS.map(({ prefix }) => name.replace('Payin', `${prefix}Payin`));
  return [
    `${about}export type ${name} = ${shapes.join(' | ')};`,
    ...RAILS.map(
      (rail, index) =>
        `export interface ${shapes[index]} {\n${writer.fields(onRail(schema, rail), direction)}${others(schema, rail)} }`,
    ),
  ].join('\n\n');
}

function absent(name: string): string {
  return (ABSENT[name] ?? []).map((field) => `\n${field}?: undefined;`).join('');
}

/** The schema for one value of `rail`. */
function onRail(schema: Schema, { rail, member, source }: (typeof RAILS)[number]): Schema {
  const { sourceData, ...properties } = { ...schema.properties };
  for (const { member: each } of RAILS) if (each !== member) delete properties[each];
  const needed = properties[member];
  const own = sourceData?.anyOf?.find((each) => each.properties?.[source]);
  return {
    ...schema,
    properties: {
      ...properties,
      rail: { ...properties['rail'], const: rail },
      ...(needed ? { [member]: withoutNull(needed) } : {}),
      ...(own ? { sourceData: { ...own, description: sourceData?.description ?? '' } } : {}),
    },
    required: [...(schema.required ?? []), ...(member in properties ? [member] : [])],
  };
}

/** The rail requires its own object, so null is not accepted there. */
function withoutNull(schema: Schema): Schema {
  if (!Array.isArray(schema.type)) return schema;
  return { ...schema, type: schema.type.filter((each: string) => each !== 'null') };
}

/** The API rejects the object of another rail. */
function others(schema: Schema, { member }: (typeof RAILS)[number]): string {
  return RAILS.filter((each) => each.member !== member && schema.properties?.[each.member])
    .map((each) => `\n${each.member}?: null | undefined;`)
    .join('');
}

function namedText(document: ApiDocument, writer: TypeWriter, name: string, place: string): string {
  const schema = schemaAt(document, place);
  return schema.type === 'object'
    ? `export interface ${name} {\n${writer.fields(schema, 'read')} }`
    : `export type ${name} = ${writer.type(schema, 'read', name)};`;
}

function schemasSent(document: ApiDocument): ReadonlySet<string> {
  const sent = new Set(['Customer']);
  for (const operation of listOperations(document))
    for (const { schema } of Object.values(operation.requestBody?.content ?? {}))
      sent.add(refName(schema) ?? '');
  return sent;
}
