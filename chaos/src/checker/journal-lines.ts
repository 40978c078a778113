import { readFileSync } from 'node:fs';

/** The lines of a journal. Its last may be half written when its writer is still at it or was killed: it is not counted. */
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
