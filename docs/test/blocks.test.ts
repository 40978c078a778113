import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { type CodeBlock, codeBlocks, handWrittenPages } from './blocks/code-blocks.ts';
import { sdkPrograms } from './blocks/sdk-programs.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

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

const BLOCKS: ReadonlyMap<string, readonly CodeBlock[]> = new Map(
  handWrittenPages().map((page) => [page, codeBlocks(page)]),
);
const ALL = [...BLOCKS.values()].flat();
const PROGRAMS = [...BLOCKS.values()].flatMap(sdkPrograms);

// blocks.long.test.ts runs them.
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

  it('compile', () => {
    mkdirSync(join(ROOT, 'docs', '.run'), { recursive: true });
    const folder = mkdtempSync(join(ROOT, 'docs', '.run', 'blocks-'));
    const files = PROGRAMS.map(({ page, line, file, text }) => {
      const name = join(page.replace(/\.md$/, ''), file ?? `line-${line}.ts`);
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
      return name;
    });
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
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: settings, files }));
    const run = spawnSync('npx', ['tsc', '-p', folder], { cwd: ROOT, encoding: 'utf8' });
    rmSync(folder, { recursive: true, force: true });
    expect(run.stdout).toBe('');
    expect(run.status).toBe(0);
  });
});
