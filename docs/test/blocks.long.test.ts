import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeBlock, codeBlocks, handWrittenPages } from './blocks/code-blocks.ts';
import { type DevStack, startDevStack } from './blocks/dev-stack.ts';
import { localized, pageEnvironment, pageFolder, runShellBlocks } from './blocks/page-run.ts';
import { type SdkProgram, sdkPrograms } from './blocks/sdk-programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUN = join(ROOT, 'docs', '.run');

const PAGES = handWrittenPages();
const BLOCKS: ReadonlyMap<string, readonly CodeBlock[]> = new Map(
  PAGES.map((page) => [page, codeBlocks(page)]),
);
const PROGRAMS = [...BLOCKS.values()].flatMap(sdkPrograms);

let stack: DevStack;
beforeAll(async () => {
  rmSync(RUN, { recursive: true, force: true });
  stack = await startDevStack();
  for (const program of PROGRAMS) {
    mkdirSync(pageFolder(program.page), { recursive: true });
    writeFileSync(programPath(program), localized(stack, program.page, program.text));
  }
});
afterAll(async () => {
  await stack?.stop();
  rmSync(RUN, { recursive: true, force: true });
});

function programPath({ page, line, file }: SdkProgram): string {
  return join(pageFolder(page), file ?? `line-${line}.ts`);
}

describe('each page, run as written', { concurrent: true }, () => {
  const withShell = PAGES.filter((page) => BLOCKS.get(page)?.some(({ language }) => language === 'sh'));

  it.each(withShell)('%s: every command has the output that the page shows', async (page) => {
    const blocks = BLOCKS.get(page) ?? [];
    const runnable = blocks.filter(({ language, mark }) => language === 'sh' && mark !== 'norun');
    expect(await runShellBlocks(stack, page, blocks)).toBe(runnable.length);
  });

  const alone = PROGRAMS.filter(({ file }) => file === null);

  it.each(alone.map((program) => [`${program.page}:${program.line}`, program] as const))(
    '%s: the program prints what its comments show',
    async (_, program) => {
      // A program without expected output would test nothing.
      expect(program.prints.length).toBeGreaterThan(0);
      const { status, output } = await runProgram(program);
      expect({ status, printed: output.trim().split('\n') }).toEqual({ status: 0, printed: program.prints });
    },
  );
});

function runProgram(program: SdkProgram): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [programPath(program)], {
    cwd: ROOT,
    env: { ...pageEnvironment(stack, program.page) },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}
