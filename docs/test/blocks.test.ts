import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeBlock, codeBlocks, handWrittenPages } from './blocks/code-blocks.ts';
import { type DevStack, startDevStack } from './blocks/dev-stack.ts';
import { environmentOf, localized, pageFolder, runShellBlocks } from './blocks/page-run.ts';
import { type SdkProgram, sdkPrograms } from './blocks/sdk-programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUN = join(ROOT, 'docs', '.run');

/** Blocks that are not run here, and why. Another one needs a line here, and a reason. */
const NOT_RUN = [
  'guides/quickstart.md: the suite runs in a clone that has been installed',
  'guides/webhooks.md: runs until Ctrl-C; the next block shows the same with an end',
  'operating/growth.md: an example of yours, for your own settings',
  'operating/merchants.md: an example with ids of yours',
  'operating/payins.md: an example with numbers of yours',
  'operating/payins.md: an example with ids of yours',
  'operating/run-it.md: an example of yours, for your own settings',
  'operating/run-it.md: an example of yours, for your own settings',
  'operating/run-it.md: needs a PostgreSQL of yours',
];

const LANGUAGES = ['sh', 'ts', 'json', 'sql', 'txt'];
const MARKS = ['', 'norun', 'until', 'background', 'shape'];

const PAGES = handWrittenPages();
const BLOCKS: ReadonlyMap<string, readonly CodeBlock[]> = new Map(
  PAGES.map((page) => [page, codeBlocks(page)]),
);
const ALL = [...BLOCKS.values()].flat();
const PROGRAMS = [...BLOCKS.values()].flatMap(sdkPrograms);

let stack: DevStack;
beforeAll(async () => {
  rmSync(RUN, { recursive: true, force: true });
  stack = await startDevStack();
});
afterAll(async () => {
  await stack?.stop();
  rmSync(RUN, { recursive: true, force: true });
});

function programPath({ page, line, file }: SdkProgram): string {
  return join(pageFolder(page), file ?? `line-${line}.ts`);
}

describe('the code of the guides', () => {
  it('is of languages and marks that are run here, and what is not run is listed with its reason', () => {
    expect(ALL.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
    expect(ALL.filter(({ mark }) => !MARKS.includes(mark) && !mark.startsWith('file='))).toEqual([]);
    const skipped = ALL.filter(({ mark }) => mark === 'norun').map(({ page, words }) => `${page}: ${words}`);
    expect(skipped).toEqual(NOT_RUN);
    const told = ALL.filter(
      ({ language, text }) => language === 'txt' && /^(?:curl|npx|caudal|node) /m.test(text),
    );
    expect(told).toEqual([]);
  });

  it('shows answers only after what gives them', () => {
    const orphans = [...BLOCKS.values()].flatMap((blocks) =>
      blocks.filter(({ language }, index) => language === 'json' && blocks[index - 1]?.language !== 'sh'),
    );
    expect(orphans).toEqual([]);
  });

  it('compiles', { timeout: 60_000 }, () => {
    for (const program of PROGRAMS) {
      mkdirSync(pageFolder(program.page), { recursive: true });
      writeFileSync(programPath(program), localized(stack, program.page, program.text));
    }
    const settings = {
      target: 'es2024',
      lib: ['es2024'],
      module: 'nodenext',
      types: ['node'],
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      allowImportingTsExtensions: true,
    };
    const include = PROGRAMS.map(programPath);
    writeFileSync(join(RUN, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings, files: include }));
    const run = spawnSync('npx', ['tsc', '-p', join(RUN, 'tsconfig.json')], { cwd: ROOT, encoding: 'utf8' });
    expect(run.stdout).toBe('');
    expect(run.status).toBe(0);
  });
});

describe('each page, typed as it stands', { concurrent: true, timeout: 120_000 }, () => {
  const withShell = PAGES.filter((page) => BLOCKS.get(page)?.some(({ language }) => language === 'sh'));

  it.each(withShell)('%s: every command does what the page says', async (page) => {
    const blocks = BLOCKS.get(page) ?? [];
    const runnable = blocks.filter(({ language, mark }) => language === 'sh' && mark !== 'norun');
    expect(await runShellBlocks(stack, page, blocks)).toBe(runnable.length);
  });

  const alone = PROGRAMS.filter(({ file }) => file === null);

  it.each(alone.map((program) => [`${program.page}:${program.line}`, program] as const))(
    '%s: the program prints what its comments say',
    async (_, program) => {
      // One that promises nothing proves nothing.
      expect(program.prints.length).toBeGreaterThan(0);
      const { status, output } = await runProgram(program);
      expect({ status, printed: output.trim().split('\n') }).toEqual({ status: 0, printed: program.prints });
    },
  );
});

function runProgram(program: SdkProgram): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [programPath(program)], {
    cwd: ROOT,
    env: { ...environmentOf(stack, program.page) },
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise((resolve) => child.once('close', (status) => resolve({ status, output })));
}
