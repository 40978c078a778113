import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

const responseSchema = z.object({ results: z.array(z.unknown()) });

/**
 * Indexes the results of a bulk call by their id. Each result is parsed separately, so that an invalid one does not affect
 * the others. Contradicting results for the same id are dropped: the last one could turn an accepted order into a `no`.
 * @throws when the body is not a list of results
 */
export function indexResults<T>(
  body: unknown,
  schema: z.ZodType<T>,
  toId: (result: T) => string,
): Map<string, T> {
  const found = new Map<string, T>();
  const contradicted = new Set<string>();
  for (const each of responseSchema.parse(body).results) {
    const read = schema.safeParse(each);
    if (!read.success) continue;
    const id = toId(read.data);
    if (found.has(id) && !isDeepStrictEqual(found.get(id), read.data)) contradicted.add(id);
    found.set(id, read.data);
  }
  for (const id of contradicted) found.delete(id);
  return found;
}
