import { Fault } from './errors.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => UUID.test(text);

/** People remember references; ids are for programs. Both are taken wherever one thing is named. */
export async function idOrReference(
  text: string,
  what: string,
  find: (reference: string) => PromiseLike<{ readonly data: readonly object[] }>,
  idOf: (found: never) => string,
): Promise<string> {
  if (isId(text)) return text;
  const { data } = await find(text);
  const [found] = data;
  if (!found) throw new Fault(`there is no ${what} with the id or reference "${text}"`);
  return idOf(found as never);
}
