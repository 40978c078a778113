import { readFileSync } from 'node:fs';

/** Reads a journal. Ignores the last line, which may be incomplete while its writer runs or after it was killed. */
export function journalLines<Line>(path: string): Line[] {
  const texts = readFileSync(path, 'utf8').split('\n');
  texts.pop();
  return texts.map((text, index) => {
    try {
      return JSON.parse(text) as Line;
    } catch (cause) {
      throw new Error(`${path}:${index + 1} is not JSON`, { cause });
    }
  });
}
