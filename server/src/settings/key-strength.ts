/** An attacker with a copy of the database tests guesses of the master key offline. */
export const MIN_MASTER_KEY_BITS = 128;

/** About what a letter of a written word contributes; a random letter has 4.7 bits. */
const BITS_PER_WORD_LETTER = 2;

/** Letters of one case, also with a capital at the start: probably a word. Random text rarely has four of them in a row. */
const WORDS = /[A-Z]?[a-z]{4,}|[A-Z]{4,}/g;

/**
 * A rough lower estimate of the entropy of a secret. Words count by their letters, repeated words nothing, and every other
 * character as random among those that occur.
 */
export function estimateBits(secret: string): number {
  const words = new Set(secret.match(WORDS) ?? []);
  const letters = [...words].reduce((sum, word) => sum + word.length, 0);
  const others = secret.replace(WORDS, '').length;
  return letters * BITS_PER_WORD_LETTER + others * Math.log2(new Set(secret).size);
}
