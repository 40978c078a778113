/** Characters in names of people, companies and towns that have no Unicode decomposition. */
const REWRITTEN: ReadonlyMap<string, string> = new Map([
  ['ß', 'ss'],
  ['Æ', 'AE'],
  ['æ', 'ae'],
  ['Œ', 'OE'],
  ['œ', 'oe'],
  ['Ø', 'O'],
  ['ø', 'o'],
  ['Ł', 'L'],
  ['ł', 'l'],
  ['Đ', 'D'],
  ['đ', 'd'],
  ['‘', "'"],
  ['’', "'"],
  ['“', '"'],
  ['”', '"'],
  ['–', '-'],
  ['—', '-'],
]);

/** Longer than any name; it bounds the cost of malicious input. */
const REWRITTEN_LENGTH_MAX = 256;

/**
 * Removes accents and replaces characters without an ASCII form by a space. Collapses and trims spaces. May return
 * an empty text.
 */
export function printableAscii(text: string, lengthMax: number): string {
  const source = text.length > REWRITTEN_LENGTH_MAX ? text.slice(0, REWRITTEN_LENGTH_MAX) : text;
  const characters = /^[\x20-\x7e]*$/.test(source) ? source : source.normalize('NFKD');
  let out = '';
  let spaceDue = false;
  for (const character of characters) {
    const code = character.charCodeAt(0);
    if (isCombiningMark(code)) continue;
    const piece = code > 0x20 && code < 0x7f ? character : (REWRITTEN.get(character) ?? '');
    if (piece === '') {
      spaceDue = out !== '';
      continue;
    }
    out += spaceDue ? ` ${piece}` : piece;
    spaceDue = false;
    if (out.length >= lengthMax) break;
  }
  return out.slice(0, lengthMax).trimEnd();
}

const isCombiningMark = (code: number): boolean => code >= 0x300 && code <= 0x36f;
