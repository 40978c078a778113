import type { Schema } from './openapi.ts';

const SHARED = '#/components/schemas/';

/**
 * Closes the schemas of responses. They are open in the document, so that clients accept members of newer servers, but this
 * server may send only what the document lists.
 */
export function closeSchemas(schemas: Readonly<Record<string, Schema>>): Readonly<Record<string, unknown>> {
  const extended = extendedSchemas(schemas);
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [name, extended.has(name) ? schema : closed(schema)]),
  );
}

/** Each part of an `allOf` validates the members of the other parts too, so it stays open. */
function extendedSchemas(schemas: Readonly<Record<string, Schema>>): ReadonlySet<string> {
  const parts = Object.values(schemas).flatMap(({ allOf = [] }) => sharedNames(allOf));
  return new Set([...parts, ...parts.flatMap((name) => sharedNames(schemas[name]?.oneOf ?? []))]);
}

function sharedNames(references: readonly Schema[]): readonly string[] {
  return references.flatMap(({ $ref }) => ($ref === undefined ? [] : [$ref.replace(SHARED, '')]));
}

export function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(
    ([key, each]) => [key, key === 'allOf' ? each : closed(each)] as const,
  );
  const isOpen = 'properties' in value && 'type' in value && !('additionalProperties' in value);
  return Object.fromEntries(isOpen ? [...entries, ['additionalProperties', false]] : entries);
}
