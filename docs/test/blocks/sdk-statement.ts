type Values = Readonly<Record<string, unknown>>;

/**
 * Runs statements of an SDK example with the given variables, and returns the value of its last constant. The examples have no
 * type annotations, so they are valid JavaScript.
 */
export async function runStatements(text: string, variables: Values): Promise<unknown> {
  const result = [...text.matchAll(/^const (\w+) =/gm)].at(-1)?.[1];
  const code = `export default async ({ ${Object.keys(variables).join(', ')} }) => {\n${text}\nreturn ${result};\n};`;
  const module = (await import(`data:text/javascript,${encodeURIComponent(code)}`)) as {
    readonly default: (variables: Values) => Promise<unknown>;
  };
  return module.default(variables);
}
