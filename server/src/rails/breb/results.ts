import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

const answered = z.object({ results: z.array(z.unknown()) });

/**
 * The results of a bulk call by what they are about. Each is read by itself: one that is odd leaves its neighbours
 * readable. Of two that contradict each other neither is taken: the last one could make a no of an accepted order.
 * @throws when the body is no list of results
 */
export function resultsBy<T>(
  body: unknown,
  schema: z.ZodType<T>,
  nameOf: (result: T) => string,
): Map<string, T> {
  const found = new Map<string, T>();
  const contradicted = new Set<string>();
  for (const each of answered.parse(body).results) {
    const read = schema.safeParse(each);
    if (!read.success) continue;
    const name = nameOf(read.data);
    if (found.has(name) && !isDeepStrictEqual(found.get(name), read.data)) contradicted.add(name);
    found.set(name, read.data);
  }
  for (const name of contradicted) found.delete(name);
  return found;
}
