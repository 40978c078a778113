/** Values that are new in every run: identifiers, times, keys we mint. */
const NEW_EACH_TIME = [
  /^[0-9a-f]{8}-[0-9a-f]{4}-/,
  /^\d{4}-\d\d-\d\dT[\d:.]+Z$/,
  /^req_/,
  /^@CDL/,
  /^whsec_/,
];

/**
 * What of an answer is not as the page shows it. The page may leave members out; those it shows are there, of the same
 * kind, and equal but for what is new in every run. `…` stands for any end of a text.
 * @param shapeOnly kinds alone are compared
 */
export function differences(shown: unknown, got: unknown, shapeOnly: boolean, path = '$'): readonly string[] {
  if (kindOf(shown) !== kindOf(got)) return [`${path} is ${kindOf(got)}, the page shows ${kindOf(shown)}`];
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
  const pattern = NEW_EACH_TIME.find((each) => each.test(shown));
  return pattern ? pattern.test(got) : shown === got;
}

function kindOf(value: unknown): string {
  return value === null
    ? 'null'
    : value === undefined
      ? 'missing'
      : Array.isArray(value)
        ? 'a list'
        : typeof value;
}
