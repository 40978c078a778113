import { readFileSync } from 'node:fs';
import { filesBelow } from '../../finish/files.ts';

const DOCS = new URL('../../', import.meta.url);

/** A fenced code block of a page. The mark after the language says how the test runs it. */
export interface CodeBlock {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  /** `norun`, `until`, `background`, `shape`, `file=…`, `from=…`; empty for an ordinary block. */
  readonly mark: string;
  /** The rest of the fence line. */
  readonly note: string;
  readonly text: string;
}

/** Hand-written pages; the others are generated from code and compared with it. */
export function handWrittenPages(): readonly string[] {
  const folders = ['guides', 'concepts', 'operating'];
  return [
    'index.md',
    ...folders.flatMap((folder) =>
      filesBelow(new URL(folder, DOCS).pathname)
        .filter((path) => path.endsWith('.md'))
        .map((path) => `${folder}/${path}`),
    ),
  ];
}

export function codeBlocks(page: string): readonly CodeBlock[] {
  return blocksIn(page, readFileSync(new URL(page, DOCS), 'utf8'));
}

export function blocksIn(page: string, markdown: string): readonly CodeBlock[] {
  return [...markdown.matchAll(/^```([a-z]*)(?: +(\S+))?(?: +([^\n]*))?\n([\s\S]*?)^```$/gm)].map((match) => {
    const [, language = '', mark = '', note = '', text = ''] = match;
    const line = markdown.slice(0, match.index).split('\n').length;
    return { page, line, language, mark, note, text };
  });
}
