import { CliError } from '../framework/errors.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export const isId = (text: string): boolean => UUID.test(text);

/** Resolves an id or a reference to an id. */
export async function resolveId(
  text: string,
  what: string,
  find: (reference: string) => PromiseLike<{ readonly data: readonly object[] }>,
  getId: (found: never) => string,
): Promise<string> {
  if (isId(text)) return text;
  const { data } = await find(text);
  const [found] = data;
  if (!found) throw new CliError(`no ${what} has the id or reference "${text}"`);
  return getId(found as never);
}
