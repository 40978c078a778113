import type { Resolution } from '../rails/contract.ts';

/** The first three letters of each word, in the directory's spelling. Hides the length of the words. */
export function maskName(name: string): string {
  // Removes invisible format characters, which can reverse the direction of the text that follows.
  const words = name
    .normalize('NFC')
    .replace(/\p{Cf}/gu, '')
    .split(/\s+/)
    .filter(Boolean);
  return words.map((word) => `${Array.from(word).slice(0, 3).join('')}***`).join(' ');
}

/** The last four characters; none of a number that has four or fewer. */
export function maskNumber(number: string): string {
  const characters = Array.from(number.trim());
  return `****${characters.length > 4 ? characters.slice(-4).join('') : ''}`;
}

export type NameMatch = 'FULL' | 'PARTIAL' | 'NONE';

/** A name with more extra words than this is a list of guesses, not a name. */
const MAX_EXTRA_WORDS = 3;

/**
 * Compares the name that a merchant expects with the directory's. One shared word is NONE, because otherwise names could
 * be guessed word by word; a name of one word is therefore FULL or NONE.
 */
export function matchName(expected: string, actual: string): NameMatch {
  const [expectedWords, actualWords] = [splitWords(expected), splitWords(actual)];
  if (expectedWords.length === 0) return 'NONE';
  if (expectedWords.toSorted().join(' ') === actualWords.toSorted().join(' ')) return 'FULL';
  if (expectedWords.length > actualWords.length + MAX_EXTRA_WORDS) return 'NONE';
  return countSharedWords(expectedWords, actualWords) >= 2 ? 'PARTIAL' : 'NONE';
}

const LEGAL_FORMS: ReadonlySet<string> = new Set(['SAS', 'SA', 'LTDA', 'BIC', 'ESP']);

/** `S.A.S.` and `S. A. S.` after their dots are removed. */
const SPACED_LEGAL_FORM = /\b(?:S A S|S A|B I C|E S P)\b/g;

/** Removes accents, case and punctuation, and legal forms unless nothing else is left. */
function splitWords(name: string): string[] {
  const folded = name
    .normalize('NFKD')
    .replace(/[\p{M}'’]/gu, '')
    .toUpperCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .replace(SPACED_LEGAL_FORM, (form) => form.replaceAll(' ', ''));
  const words = folded.split(' ').filter(Boolean);
  const proper = words.filter((word) => !LEGAL_FORMS.has(word));
  return proper.length > 0 ? proper : words;
}

/** Too common in names to count as a match. */
const PARTICLES: ReadonlySet<string> = new Set(['DE', 'DEL', 'LA', 'LAS', 'LOS', 'EL']);

/** Each word matches at most one word of the other name. Initials and particles do not count. */
function countSharedWords(expected: readonly string[], actual: readonly string[]): number {
  const left = Map.groupBy(actual, (word) => word);
  return expected.filter((word) => word.length > 1 && !PARTICLES.has(word) && left.get(word)?.pop()).length;
}

/** NITs have nine digits without their check digit. A truncated number must not pass for one. */
const MIN_NIT_LENGTH = 9;

/** Compares letters and digits only. A NIT matches with and without its check digit. */
export function matchDocument(
  expected: string,
  { documentType, documentNumber }: Pick<Resolution, 'documentType' | 'documentNumber'>,
): boolean {
  const [wanted, actual] = [lettersAndDigits(expected), lettersAndDigits(documentNumber)];
  if (wanted === '') return false;
  if (wanted === actual) return true;
  return documentType === 'NIT' && (isWithCheckDigit(wanted, actual) || isWithCheckDigit(actual, wanted));
}

function isWithCheckDigit(long: string, short: string): boolean {
  if (short.length < MIN_NIT_LENGTH || long.length !== short.length + 1) return false;
  return long.startsWith(short) && /\d$/.test(long);
}

function lettersAndDigits(text: string): string {
  return text.replace(/[^\p{L}\p{N}]/gu, '').toUpperCase();
}
