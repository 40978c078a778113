import { DEVELOPMENT_SECRET, findEqualSecrets, isLowEntropy } from '../settings/problems.ts';
import { SECRETS } from '../settings/settings.ts';

type RawSettings = Readonly<Record<string, string | undefined>>;

/** Minimum length. Rails issue their own secrets, which may be shorter than the ones we require. */
const MIN_LENGTH = 16;

const PLACEHOLDER = /change.?me|passw|secret|example|placeholder|your.?key|todo|xxxx|1234/i;

/** Secrets that an attacker could guess or read in the source. The texts contain names, never values. */
export function weakSecrets(settings: RawSettings): string[] {
  // Development secrets are expected in development, where doctor reports them without a warning.
  const published = settings['CAUDAL_ENV'] === 'development' ? [] : developmentSecrets(settings);
  const weak = SECRETS.flatMap((name) => {
    const value = settings[name];
    if (value === undefined || value.startsWith(DEVELOPMENT_SECRET)) return [];
    const why = findWeakness(value);
    return why === null ? [] : [`${name} ${why}`];
  });
  return [
    ...published.map((name) => `${name} is a development secret, which is public in the source code`),
    ...weak,
    ...findEqualSecrets(settings).map(
      (names) => `${names.join(' and ')} are equal: a leak of one compromises the other`,
    ),
  ];
}

/** Names of the secrets that are public in this repository. */
export function developmentSecrets(settings: RawSettings): string[] {
  return SECRETS.filter((name) => settings[name]?.startsWith(DEVELOPMENT_SECRET));
}

function findWeakness(value: string): string | null {
  if (value.length < MIN_LENGTH)
    return `has only ${value.length} characters, which can be guessed by brute force`;
  if (isLowEntropy(value)) return 'has very few different characters';
  if (repeats(value)) return 'repeats itself';
  if (runs(value)) return 'is a sequence of characters in order';
  // Random text matches this about once in a billion secrets.
  if (PLACEHOLDER.test(value) && /^[\x20-\x7e]*$/.test(value)) return 'looks like a placeholder';
  return null;
}

function repeats(value: string): boolean {
  return (value + value).indexOf(value, 1) < value.length / 2 + 1;
}

/** More than half of the characters are adjacent to the one before them, as in `abcdef`. */
function runs(value: string): boolean {
  let steps = 0;
  for (let index = 1; index < value.length; index++)
    if (Math.abs(value.charCodeAt(index) - value.charCodeAt(index - 1)) <= 1) steps += 1;
  return steps > value.length / 2;
}
