/** What a JSON text may contain. Far above the largest body of the API (about 60 values, three levels). */
const MAX_VALUES = 500;
const MAX_DEPTH = 20;
/** A reported path may contain member names of any length. */
const MAX_PATH_LENGTH = 100;

export interface JsonProblem {
  readonly code: 'duplicate_field' | 'too_many_fields' | 'too_deep';
  /** Names of the enclosing members, outermost first, without array indexes. */
  readonly path: string;
}

interface Container {
  /** Member names seen so far; null for an array. */
  readonly names: Set<string> | null;
  /** Name of the member that is being read. */
  name: string;
  expectsName: boolean;
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Scans a JSON text before it is parsed. It rejects repeated members, because parsers disagree on which one counts, and
 * texts with too many values or levels, because validating them would delay other requests.
 * It does not validate the syntax: for a text that is not JSON the result is arbitrary, and `JSON.parse` reports the error.
 */
export function findJsonProblem(text: string): JsonProblem | null {
  const open: Container[] = [];
  let values = 0;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charCodeAt(at);
    const container = open.at(-1);
    if (character === QUOTE) {
      const end = findClosingQuote(text, at);
      if (container?.names && container.expectsName) {
        container.name = decodeName(text.slice(at + 1, end));
        container.expectsName = false;
        if (container.names.has(container.name)) return problem('duplicate_field', open);
        container.names.add(container.name);
      }
      at = end;
    } else if (character === COMMA || character === OPEN_OBJECT || character === OPEN_ARRAY) {
      values += 1;
      if (values > MAX_VALUES) return { code: 'too_many_fields', path: 'body' };
      if (character === COMMA) {
        if (container) container.expectsName = true;
      } else {
        if (open.length === MAX_DEPTH) return { code: 'too_deep', path: 'body' };
        open.push({ names: character === OPEN_OBJECT ? new Set() : null, name: '', expectsName: true });
      }
    } else if (character === CLOSE_OBJECT || character === CLOSE_ARRAY) {
      open.pop();
    }
  }
  return null;
}

/** @returns the end of the text when the string is not closed */
function findClosingQuote(text: string, openingQuote: number): number {
  for (let from = openingQuote + 1; ; ) {
    const quote = text.indexOf('"', from);
    if (quote < 0) return text.length;
    let backslashes = 0;
    while (text.charCodeAt(quote - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return quote;
    from = quote + 1;
  }
}

/** Two names may be spelled differently and be equal: `"a"` and `"\u0061"`. */
function decodeName(source: string): string {
  if (!source.includes('\\')) return source;
  try {
    return JSON.parse(`"${source}"`) as string;
  } catch {
    return source;
  }
}

function problem(code: JsonProblem['code'], open: readonly Container[]): JsonProblem {
  const path = open.flatMap(({ names, name }) => (names ? [name] : [])).join('.');
  return { code, path: path.slice(0, MAX_PATH_LENGTH) };
}

/** Whether a parsed value has more levels than `JSON.stringify` and later readers can be given. */
export function isTooDeep(value: unknown, levels = MAX_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((inner) => isTooDeep(inner, levels - 1));
}
