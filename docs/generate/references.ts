import type {
  JsonSchema,
  OpenApiDocument,
  ReferenceObject,
} from '../../server/src/http/docs/openapi-types.ts';

// A dangling reference is a bug in the document: it throws instead of rendering an empty section.
function lookUp(document: OpenApiDocument, reference: string): unknown {
  if (!reference.startsWith('#/'))
    throw new Error(`openapi: only local references are supported, got ${reference}`);
  let target: unknown = document;
  for (const part of reference.slice(2).split('/')) {
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof target !== 'object' || target === null || !Object.hasOwn(target, key)) {
      throw new Error(`openapi: ${reference} does not exist`);
    }
    target = (target as Readonly<Record<string, unknown>>)[key];
  }
  return target;
}

function isReference(value: object): value is ReferenceObject {
  return '$ref' in value && typeof value.$ref === 'string';
}

/**
 * Follows a reference to a parameter, response, header or example. Schemas have their own resolution
 * (schema-shape.ts), because only schemas may refer to themselves.
 */
export function dereference<T extends object>(document: OpenApiDocument, value: T | ReferenceObject): T {
  let current: T | ReferenceObject = value;
  const followed = new Set<string>();
  while (isReference(current)) {
    if (followed.has(current.$ref)) throw new Error(`openapi: ${current.$ref} refers to itself`);
    followed.add(current.$ref);
    current = lookUp(document, current.$ref) as T | ReferenceObject;
  }
  return current;
}

/** One step along a schema's `$ref`. */
export function lookUpSchema(document: OpenApiDocument, reference: string): JsonSchema {
  return lookUp(document, reference) as JsonSchema;
}

export function referenceName(reference: string): string {
  return decodeURIComponent(reference.slice(reference.lastIndexOf('/') + 1));
}
