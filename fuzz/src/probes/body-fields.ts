import type { OpenApi, Schema } from '../document/openapi.ts';
import { resolve } from '../generate/valid.ts';

/** A member of a body that can name something of another organization. */
export interface BodyField {
  readonly path: readonly string[];
  readonly kind: 'id' | 'reference' | 'client';
}

export function bodyFields(document: OpenApi, schema: Schema, path: readonly string[] = []): BodyField[] {
  const { properties = {} } = resolve(document, schema);
  return Object.entries(properties).flatMap(([name, property]): BodyField[] => {
    const own = resolve(document, property);
    const inner = [...path, name];
    if (own.format === 'uuid') return [{ path: inner, kind: 'id' }];
    if (name === 'reference') return [{ path: inner, kind: 'reference' }];
    if (name === 'client_id') return [{ path: inner, kind: 'client' }];
    return own.properties ? bodyFields(document, own, inner) : [];
  });
}

export function setField(body: unknown, [name = '', ...rest]: readonly string[], value: string): unknown {
  const members = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  members[name] = rest.length === 0 ? value : setField(members[name], rest, value);
  return members;
}
