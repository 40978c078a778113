/** Types of hand-written files. */
const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  '../api-promise.ts': ['ApiPromise'],
  '../call-options.ts': ['CallOptions', 'KeyedCallOptions'],
  '../calls.ts': ['Calls'],
  '../list.ts': ['List'],
};

/** Import statements for the types that the text uses. */
export function imports(text: string): string {
  const used = new Set(text.replaceAll(/\/\*[\s\S]*?\*\/|'[^']*'|"[^"]*"/g, '').match(/\b[A-Z]\w+/g));
  const own = [...text.matchAll(/export (?:class|interface) (\w+)/g)].map(([, name]) => name ?? '');
  const written = Object.entries(WRITTEN).map(
    ([file, names]) => [file, names.filter((name) => used.delete(name))] as const,
  );
  for (const name of [...own, 'Date', 'Extract', 'Promise']) used.delete(name);
  const queries = [...used].filter((name) => name.endsWith('Query') && used.delete(name));
  const from = (names: readonly string[], file: string) =>
    names.length > 0 ? [`import type { ${[...names].sort().join(', ')} } from '${file}';`] : [];
  return [
    ...written.flatMap(([file, names]) => from(names, file)),
    ...from(queries, './queries.ts'),
    ...from([...used], './schemas.ts'),
  ].join('\n');
}
