import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { allPages } from '../generate/all-pages.ts';
import { blocksIn } from './blocks/code-blocks.ts';
import { OPERATIONS } from './openapi-names.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

it('every operation of the API reference has an SDK example, and all examples compile', () => {
  const pages = allPages().filter(({ slug }) => slug.startsWith('api/'));
  const examples = pages.flatMap(({ slug, body }) =>
    blocksIn(slug, body).filter(({ language }) => language === 'ts'),
  );
  const withoutOne = OPERATIONS.filter(
    ({ summary }) =>
      !hasExample(
        pages.map(({ body }) => body),
        summary,
      ),
  );
  expect(withoutOne.map(({ request }) => request)).toEqual([]);

  mkdirSync(join(ROOT, 'docs', '.run'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, 'docs', '.run', 'api-'));
  const head =
    "import { Caudal } from '@caudal/sdk';\nconst caudal = new Caudal({ apiKey: 'cdl_test_x' });\n";
  const statements = examples.map(({ text }) => `{\n${text}}\n`);
  writeFileSync(join(folder, 'examples.ts'), head + statements.join(''));
  const settings = {
    target: 'es2024',
    lib: ['es2024'],
    module: 'nodenext',
    types: ['node'],
    noEmit: true,
    strict: true,
  };
  const compilerOptions = { ...settings, skipLibCheck: true, allowImportingTsExtensions: true };
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['examples.ts'] }));
  const run = spawnSync('npx', ['tsc', '-p', folder], { cwd: ROOT, encoding: 'utf8' });
  rmSync(folder, { recursive: true, force: true });
  expect(run.stdout).toBe('');
  expect(run.status).toBe(0);
});

function hasExample(bodies: readonly string[], summary: string): boolean {
  return bodies.some((body) => {
    const section = body.split(/^## /m).find((part) => part.startsWith(`${summary}\n`));
    return section?.includes('```ts\n') === true;
  });
}
