import { readFileSync } from 'node:fs';

type Json = Readonly<Record<string, unknown>>;

const DOCUMENT = JSON.parse(
  readFileSync(new URL('../reference/openapi.json', import.meta.url), 'utf8'),
) as Json;

/** An operation of openapi.json, read independently of the page generator. */
export interface NamedOperation {
  readonly request: string;
  readonly summary: string;
  /** Names of parameters, headers and fields of bodies and success responses, at any depth. */
  readonly names: ReadonlySet<string>;
  readonly problems: readonly string[];
}

function follow(value: unknown): Json {
  const json = value as Json;
  const reference = json['$ref'];
  if (typeof reference !== 'string') return json;
  const parts = reference.slice(2).split('/');
  return follow(parts.reduce<unknown>((at, part) => (at as Json)[part], DOCUMENT));
}

function propertyNames(schema: unknown, seen: Set<unknown>): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  const json = follow(schema);
  if (seen.has(json)) return [];
  seen.add(json);
  const properties = Object.entries((json['properties'] ?? {}) as Json);
  const inside = ['items', 'additionalProperties'].map((key) => json[key]);
  // The pages show the values of a map as the field `*`.
  const values = Object.keys(Object(json['additionalProperties']) as object).length > 0 ? ['*'] : [];
  if (json['discriminator'] !== undefined) return discriminatedNames(json);
  const alternatives = ['anyOf', 'oneOf', 'allOf'].flatMap((key) => (json[key] ?? []) as readonly unknown[]);
  return [
    ...values,
    ...properties.flatMap(([name, property]) => [name, ...propertyNames(property, seen)]),
    ...[...inside, ...alternatives].flatMap((each) => propertyNames(each, seen)),
  ];
}

/** The alternatives of a discriminated union have the same fields; each has its own section elsewhere. */
function discriminatedNames(json: Json): readonly string[] {
  const [first] = json['oneOf'] as readonly unknown[];
  return Object.keys(follow(first)['properties'] as Json);
}

function bodyNames(content: unknown): readonly string[] {
  return Object.values((content ?? {}) as Json).flatMap((media) =>
    propertyNames((media as Json)['schema'], new Set()),
  );
}

export const OPERATIONS: readonly NamedOperation[] = Object.entries(DOCUMENT['paths'] as Json).flatMap(
  ([path, methods]) =>
    Object.entries(methods as Json).map(([method, value]) => {
      const operation = value as Json;
      const parameters = (operation['parameters'] ?? []) as readonly { readonly name: string }[];
      const successes = Object.entries((operation['responses'] ?? {}) as Json).filter(([status]) =>
        status.startsWith('2'),
      );
      const names = [
        ...parameters.map(({ name }) => name),
        ...bodyNames((operation['requestBody'] as Json | undefined)?.['content']),
        ...successes.flatMap(([, response]) => [
          ...Object.keys(((response as Json)['headers'] ?? {}) as Json),
          ...bodyNames((response as Json)['content']),
        ]),
      ];
      return {
        request: `${method.toUpperCase()} ${path}`,
        summary: String(operation['summary']),
        names: new Set(names),
        problems: operation['x-problem-codes'] as readonly string[],
      };
    }),
);

/** Names of the fields of `data` at any depth, for all events together. */
export const EVENT_DATA_NAMES = new Set(
  Object.values(DOCUMENT['webhooks'] as Json).flatMap((item) => {
    const { requestBody } = (item as { readonly post: Json }).post as { readonly requestBody: Json };
    const [media] = Object.values(requestBody['content'] as Json);
    const { data } = follow((media as Json)['schema'])['properties'] as { readonly data: unknown };
    return propertyNames(data, new Set());
  }),
);

export const PROBLEM_NAMES = new Set(
  propertyNames(((DOCUMENT['components'] as Json)['schemas'] as Json)['Problem'], new Set()),
);

/** All enum and const values of the schemas. */
export function enumValues(): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit);
    if (typeof value !== 'object' || value === null) return;
    const json = value as Json;
    for (const each of [...((json['enum'] ?? []) as readonly unknown[]), json['const']])
      if (typeof each === 'string') found.add(each);
    Object.values(json).forEach(visit);
  };
  visit(DOCUMENT);
  return found;
}
