import { DEVELOPMENT_SECRET, equalSecrets, isSimple, SECRETS } from '../config.ts';

type Given = Readonly<Record<string, string | undefined>>;

/** Of the rails' own, which they hand out and may choose shorter than we would. */
const SHORT = 16;

const PLACEHOLDER = /change.?me|passw|secret|example|placeholder|your.?key|todo|xxxx|1234/i;

/** Secrets that a stranger could guess or read, by name and never by value. */
export function weakSecrets(given: Given): string[] {
  // `npm run dev` has them, and they are named there without alarm.
  const published = given['CAUDAL_ENV'] === 'development' ? [] : developmentSecrets(given);
  const weak = SECRETS.flatMap((name) => {
    const value = given[name];
    if (value === undefined || value.startsWith(DEVELOPMENT_SECRET)) return [];
    const why = weaknessOf(value);
    return why === null ? [] : [`${name} ${why}`];
  });
  return [
    ...published.map((name) => `${name} is a development secret, which everybody can read in the source`),
    ...weak,
    ...equalSecrets(given).map(
      (names) => `${names.join(' and ')} are equal: whoever learns one has the other`,
    ),
  ];
}

/** Names of those that everybody can read in this repository. */
export function developmentSecrets(given: Given): string[] {
  return SECRETS.filter((name) => given[name]?.startsWith(DEVELOPMENT_SECRET));
}

function weaknessOf(value: string): string | null {
  if (value.length < SHORT) return `has ${value.length} characters: short enough to be tried out`;
  if (isSimple(value)) return 'is made of very few different characters';
  if (repeats(value)) return 'repeats itself';
  if (runs(value)) return 'goes through the alphabet or the keyboard in order';
  // Random text has these by chance about once in a billion secrets.
  if (PLACEHOLDER.test(value) && /^[\x20-\x7e]*$/.test(value)) return 'reads like a placeholder';
  return null;
}

function repeats(value: string): boolean {
  return (value + value).indexOf(value, 1) < value.length / 2 + 1;
}

/** More than half of its characters follow the one before them. */
function runs(value: string): boolean {
  let steps = 0;
  for (let index = 1; index < value.length; index++)
    if (Math.abs(value.charCodeAt(index) - value.charCodeAt(index - 1)) <= 1) steps += 1;
  return steps > value.length / 2;
}
