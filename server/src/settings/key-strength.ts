/** An attacker with a copy of the database tests guesses of the master key offline. */
export const MIN_MASTER_KEY_BITS = 128;

/** About what a letter of a written word contributes; a random letter has 4.7 bits. */
const BITS_PER_WORD_LETTER = 2;

/** Letters of one case, also with a capital at the start: probably a word. Random text rarely has four of them in a row. */
const WORDS = /[A-Z]?[a-z]{4,}|[A-Z]{4,}/g;

const BITS_PER_HEX_DIGIT = 4;

/** Digits and letters of one case. Decimal numbers, and words of the letters a to f, are not random bytes. */
const HEX = /^(?=(?:\D*\d){4})(?=.*[a-f])[\da-f]+$|^(?=(?:\D*\d){4})(?=.*[A-F])[\dA-F]+$/;

/** A sequence of eight characters that occurs twice. Random keys of 16 bytes have one once in ten million. */
const REPETITION = /(.{8}).*\1/;

/**
 * A rough lower estimate of the entropy of a secret. Random bytes in hexadecimal count in full, a pattern nothing. In other
 * texts words count by their letters, repeated words nothing, and every other character as random among those that occur.
 */
export function estimateBits(secret: string): number {
  if (HEX.test(secret)) return isRandomHex(secret) ? secret.length * BITS_PER_HEX_DIGIT : 0;
  const words = (secret.match(WORDS) ?? []).filter(isPronounceable);
  const others = secret.length - countLetters(words);
  const letters = countLetters([...new Set(words)]);
  return letters * BITS_PER_WORD_LETTER + others * Math.log2(new Set(secret).size);
}

function countLetters(words: readonly string[]): number {
  return words.reduce((sum, word) => sum + word.length, 0);
}

/** A quarter of the letters are vowels. Random letters often have fewer: they must not count as words. */
function isPronounceable(word: string): boolean {
  return (word.match(/[aeiouy]/gi) ?? []).length >= word.length / 4;
}

function isRandomHex(secret: string): boolean {
  return !REPETITION.test(secret) && !isSequence(secret);
}

/** Most bytes continue the step between the two before them, as in `000102…` or `001122…`. */
function isSequence(secret: string): boolean {
  const bytes = [...Buffer.from(secret, 'hex')];
  const steps = bytes.slice(1).map((byte, index) => byte - (bytes[index] ?? 0));
  const equal = steps.filter((step, index) => step === steps[index - 1]).length;
  return equal > steps.length / 2;
}
