import type { Resolution } from '../rails/contract.ts';

/** First three letters of each word, written as the directory writes them. How long a word is stays hidden. */
export function maskName(name: string): string {
  // Without what is not seen and turns the direction of the text that follows.
  const words = name
    .normalize('NFC')
    .replace(/\p{Cf}/gu, '')
    .split(/\s+/)
    .filter(Boolean);
  return words.map((word) => `${Array.from(word).slice(0, 3).join('')}***`).join(' ');
}

/** The last four characters; nothing of a number that has no more than those. */
export function maskNumber(number: string): string {
  const characters = Array.from(number.trim());
  return `****${characters.length > 4 ? characters.slice(-4).join('') : ''}`;
}

export type NameMatch = 'FULL' | 'PARTIAL' | 'NONE';

/** A name that is longer than the one held by more than this is not a name but a list to guess from. */
const MOST_WORDS_TOO_MANY = 3;

/**
 * How far the name that a merchant has is the one that the directory holds. One shared word is NONE, or names could be
 * guessed word by word; a name of one word is therefore FULL or nothing.
 */
export function matchName(asked: string, held: string): NameMatch {
  const [askedWords, heldWords] = [wordsOf(asked), wordsOf(held)];
  if (askedWords.length === 0) return 'NONE';
  if (askedWords.toSorted().join(' ') === heldWords.toSorted().join(' ')) return 'FULL';
  if (askedWords.length > heldWords.length + MOST_WORDS_TOO_MANY) return 'NONE';
  return sharedWords(askedWords, heldWords) >= 2 ? 'PARTIAL' : 'NONE';
}

const LEGAL_FORMS: ReadonlySet<string> = new Set(['SAS', 'SA', 'LTDA', 'BIC', 'ESP']);

/** `S.A.S.` and `S. A. S.`, once their dots are gone. */
const SPELT_LEGAL_FORM = /\b(?:S A S|S A|B I C|E S P)\b/g;

/** Without accents, case, punctuation and, where something else is left, legal forms. */
function wordsOf(name: string): string[] {
  const folded = name
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(SPELT_LEGAL_FORM, (form) => form.replaceAll(' ', ''));
  const words = folded.split(' ').filter(Boolean);
  const proper = words.filter((word) => !LEGAL_FORMS.has(word));
  return proper.length > 0 ? proper : words;
}

/** Said of so many names that sharing them says nothing. */
const PARTICLES: ReadonlySet<string> = new Set(['DE', 'DEL', 'LA', 'LAS', 'LOS', 'EL']);

/** Each word of one is shared with one word of the other. Initials and particles do not count. */
function sharedWords(asked: readonly string[], held: readonly string[]): number {
  const left = Map.groupBy(held, (word) => word);
  return asked.filter((word) => word.length > 1 && !PARTICLES.has(word) && left.get(word)?.pop()).length;
}

/** NITs have nine digits without their check digit; one that is shorter by mistake must not pass for that. */
const SHORTEST_NIT = 9;

/** Letters and digits decide. A NIT is the same with and without its check digit. */
export function matchDocument(
  asked: string,
  { documentType, documentNumber }: Pick<Resolution, 'documentType' | 'documentNumber'>,
): boolean {
  const [mine, theirs] = [lettersAndDigits(asked), lettersAndDigits(documentNumber)];
  if (mine === '') return false;
  if (mine === theirs) return true;
  return documentType === 'NIT' && (isWithCheckDigit(mine, theirs) || isWithCheckDigit(theirs, mine));
}

function isWithCheckDigit(long: string, short: string): boolean {
  if (short.length < SHORTEST_NIT || long.length !== short.length + 1) return false;
  return long.startsWith(short) && /\d$/.test(long);
}

function lettersAndDigits(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}
