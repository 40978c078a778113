import type { CodeBlock } from './code-blocks.ts';

/** A program of a page: a block that starts with imports, and the following blocks that need them. */
export interface SdkProgram {
  readonly page: string;
  readonly line: number;
  readonly text: string;
  /** Expected output: the comments of `console.log(…); // …` lines, in order. */
  readonly prints: readonly string[];
  /** File name when a shell block runs it; null when the test runs it directly. */
  readonly file: string | null;
}

export function sdkPrograms(blocks: readonly CodeBlock[]): readonly SdkProgram[] {
  const programs: { page: string; line: number; text: string; file: string | null }[] = [];
  for (const { page, line, language, mark, text } of blocks) {
    // A part of a file, which its own test runs.
    if (language !== 'ts' || mark.startsWith('from=')) continue;
    const last = programs.at(-1);
    if (/^import /m.test(text) || !last) {
      const file = mark.startsWith('file=') ? mark.slice('file='.length) : null;
      programs.push({ page, line, text, file });
    } else last.text += text;
  }
  return programs.map((program) => ({ ...program, prints: expectedLines(program.text) }));
}

function expectedLines(text: string): readonly string[] {
  return [...text.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map((match) => match[1] ?? '');
}
