import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeBlock, codeBlocks, handWrittenPages } from './blocks/code-blocks.ts';
import { type DevStack, startDevStack } from './blocks/dev-stack.ts';
import { localized, pageEnvironment, pageFolder, runShellBlocks } from './blocks/page-run.ts';
import { type SdkProgram, sdkPrograms } from './blocks/sdk-programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const RUN = join(ROOT, 'docs', '.run');

/** Blocks that are not run, with the reason. A new one must be added here. */
const NOT_RUN = [
  'guides/install.md: changes your project',
  'guides/install.md: changes your machine',
  'guides/install.md: changes your project',
  'guides/quickstart.md: the tests run in an installed clone',
  'guides/sdk.md: installs into your own project',
  'guides/webhooks.md: runs until Ctrl-C; the next block shows it with --exit-after',
  'operating/backup.md: needs your own PostgreSQL',
  'operating/backup.md: needs your own PostgreSQL',
  'operating/backup.md: needs your own PostgreSQL',
  'operating/backup.md: needs your own PostgreSQL',
  'operating/backup.md: needs your own PostgreSQL',
  'operating/backup.md: needs your own PostgreSQL',
  'operating/backup.md: needs your own PostgreSQL',
  'operating/containers.md: builds an image',
  'operating/containers.md: run by node deploy/test/main.ts',
  'operating/containers.md: run by node deploy/test/main.ts',
  'operating/containers.md: run by node deploy/test/main.ts',
  'operating/containers.md: run by node deploy/test/main.ts',
  'operating/containers.md: run by node deploy/test/main.ts',
  'operating/containers.md: needs a Docker engine',
  'operating/containers.md: example for a production host',
  'operating/containers.md: needs a Kubernetes cluster',
  'operating/failover.md: needs root and a machine of its own',
  'operating/growth.md: example with your own settings',
  'operating/merchants.md: example with your own ids',
  'operating/merchants.md: example with your own ids',
  'operating/payins.md: example with your own numbers',
  'operating/payins.md: example with your own ids',
  'operating/payouts.md: example with your own ids',
  'operating/personal-data.md: example with the data of a person',
  'operating/personal-data.md: example with the data of a person',
  'operating/personal-data.md: example with the data of a person',
  'operating/run-it.md: example with your own settings',
  'operating/run-it.md: example with your own settings',
  'operating/stolen-key.md: example with your own ids',
  'operating/stolen-key.md: example with your own ids',
  'operating/supply-chain.md: example for a production host',
  'operating/supply-chain.md: writes a file',
];

const LANGUAGES = ['sh', 'ts', 'json', 'sql', 'txt'];
const MARKS = /^(?:|norun|until|background|shape|file=.+|from=.+)$/;

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

describe('code blocks of the guides', () => {
  it('have known languages and marks, and blocks that are not run are listed with a reason', () => {
    expect(ALL.filter(({ language }) => !LANGUAGES.includes(language))).toEqual([]);
    expect(ALL.filter(({ mark }) => !MARKS.test(mark))).toEqual([]);
    const skipped = ALL.filter(({ mark }) => mark === 'norun').map(({ page, note }) => `${page}: ${note}`);
    expect(skipped).toEqual(NOT_RUN);
    const untested = ALL.filter(
      ({ language, text }) => language === 'txt' && /^(?:curl|npx|caudal|node) /m.test(text),
    );
    expect(untested).toEqual([]);
  });

  it('that are part of a file of the repository have its text', () => {
    const blocks = ALL.filter(({ mark }) => mark.startsWith('from='));
    expect(blocks.length).toBeGreaterThan(3);
    for (const { mark, text } of blocks)
      expect(readFileSync(join(ROOT, mark.slice('from='.length)), 'utf8')).toContain(text);
  });

  it('show a JSON response only after the command that returns it', () => {
    const orphans = [...BLOCKS.values()].flatMap((blocks) =>
      blocks.filter(({ language }, index) => language === 'json' && blocks[index - 1]?.language !== 'sh'),
    );
    expect(orphans).toEqual([]);
  });

  it('compile', { timeout: 60_000 }, () => {
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

describe('each page, run as written', { concurrent: true, timeout: 120_000 }, () => {
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
