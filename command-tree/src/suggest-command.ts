import { nearest } from './nearest.ts';

/** Names that other programs use for our commands; edit distance would not find them. */
const SYNONYMS: Readonly<Record<string, string>> = {
  show: 'get',
  view: 'get',
  ls: 'list',
  add: 'create',
  new: 'create',
  edit: 'update',
  set: 'update',
  change: 'update',
  rm: 'delete',
  remove: 'delete',
  resend: 'replay',
};

/** The command that was probably meant. Commander suggests one word, and only among the commands of one group. */
export function suggestCommand(first: string, second: string, names: readonly string[]): string | null {
  const typed = `${first} ${second}`.trim();
  const siblings = names.filter((name) => name.startsWith(`${first} `));
  if (siblings.length > 0)
    return siblings.find((name) => name === `${first} ${SYNONYMS[second]}`) ?? nearest(typed, siblings);
  return nearest(typed, names) ?? nearest(first, [...new Set(names.map((name) => name.split(' ')[0] ?? ''))]);
}
