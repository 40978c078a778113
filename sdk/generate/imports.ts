/** Import statements for the types that the text uses. */
export function imports(text: string): string {
  const used = new Set(text.replaceAll(/\/\*[\s\S]*?\*\/|'[^']*'|"[^"]*"/g, '').match(/\b[A-Z]\w+/g));
  const own = [...text.matchAll(/export (?:class|interface) (\w+)/g)].map(([, name]) => name ?? '');
  const calls = ['CallOptions', 'Calls', 'KeyedCallOptions'].filter((name) => used.delete(name));
  const lists = ['List'].filter((name) => used.delete(name));
  for (const name of [...own, 'Date', 'Extract', 'Promise']) used.delete(name);
  const queries = [...used].filter((name) => name.endsWith('Query') && used.delete(name));
  const from = (names: readonly string[], file: string) =>
    names.length > 0 ? [`import type { ${[...names].sort().join(', ')} } from '${file}';`] : [];
  return [
    ...from(calls, '../calls.ts'),
    ...from(lists, '../list.ts'),
    ...from(queries, './queries.ts'),
    ...from([...used], './schemas.ts'),
  ].join('\n');
}
