/** Values that differ in every run: ids, times, generated keys. */
const VARIABLE_PATTERNS = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-/,
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  /^req_/,
  /^@CDL/,
  /^whsec_/,
];

/**
 * Differences between a response and the page. The page may omit members; the members it shows must exist with the same
 * type and value, except for values that differ in every run. A trailing `…` matches any rest.
 * @param shapeOnly compare only types
 */
export function differences(shown: unknown, got: unknown, shapeOnly: boolean, path = '$'): readonly string[] {
  if (typeName(shown) !== typeName(got))
    return [`${path} is ${typeName(got)}, the page shows ${typeName(shown)}`];
  if (Array.isArray(shown)) {
    const items = got as readonly unknown[];
    return shown.flatMap((item: unknown, index) =>
      differences(item, items[index], shapeOnly, `${path}[${index}]`),
    );
  }
  if (typeof shown === 'object' && shown !== null) {
    const members = got as Readonly<Record<string, unknown>>;
    return Object.entries(shown).flatMap(([name, value]) =>
      differences(value, members[name], shapeOnly, `${path}.${name}`),
    );
  }
  return shapeOnly || sameValue(shown, got)
    ? []
    : [`${path} is ${String(got)}, the page shows ${String(shown)}`];
}

function sameValue(shown: unknown, got: unknown): boolean {
  if (typeof shown !== 'string' || typeof got !== 'string') return shown === got;
  if (shown.endsWith('…')) return got.startsWith(shown.slice(0, -1));
  const pattern = VARIABLE_PATTERNS.find((each) => each.test(shown));
  return pattern ? pattern.test(got) : shown === got;
}

function typeName(value: unknown): string {
  return value === null
    ? 'null'
    : value === undefined
      ? 'missing'
      : Array.isArray(value)
        ? 'a list'
        : typeof value;
}
