/** What a script learns without reading a word; help tells the same. */
export const EXIT = {
  done: 0,
  failed: 1,
  notUnderstood: 2,
  outcomeUnknown: 3,
  interrupted: 130,
} as const;

export type ExitCode = number;

export const EXIT_CODE_LINES: readonly (readonly [string, string])[] = [
  ['0', 'done'],
  ['1', 'failed; with --wait also: ended otherwise than paid'],
  ['2', 'not understood: a misspelt command, option or value'],
  ['3', 'not known whether it took effect, or not ended in time: repeat as it says'],
  ['130', 'interrupted'],
];
