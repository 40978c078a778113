import type { CodeBlock } from './code-blocks.ts';

/** What a reader types into one file: a block that begins with imports, and those after it that need them. */
export interface SdkProgram {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** What each `console.log(…); // …` promises, in order. */
  readonly prints: readonly string[];
  /** Saved under this name and run by a shell block; null runs by itself. */
  readonly file: string | null;
}

export function sdkPrograms(blocks: readonly CodeBlock[]): readonly SdkProgram[] {
  const programs: { page: string; line: number; text: string; file: string | null }[] = [];
  for (const { page, line, language, mark, text } of blocks) {
    if (language !== 'ts') continue;
    const last = programs.at(-1);
    if (/^import /m.test(text) || !last) {
      const file = mark.startsWith('file=') ? mark.slice('file='.length) : null;
      programs.push({ page, line, text, file });
    } else last.text += text;
  }
  return programs.map((program) => ({ ...program, prints: promisesIn(program.text) }));
}

function promisesIn(text: string): readonly string[] {
  return [...text.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1] ?? '');
}
