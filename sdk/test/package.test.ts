import { execFile, spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildPackage } from '../scripts/build.ts';
import { API_KEY, faultyServer, json, problem } from './faulty-server.ts';

const TREE = fileURLToPath(new URL('../..', import.meta.url));
const FIXTURES = fileURLToPath(new URL('fixtures/', import.meta.url));
const TSC = fileURLToPath(new URL('bin/tsc', import.meta.resolve('typescript/package.json')));
const ATTW = fileURLToPath(
  new URL('dist/index.js', import.meta.resolve('@arethetypeswrong/cli/package.json')),
);
const run = promisify(execFile);

let folder: string;
let built: string;
let project: string;
let tarball: string;

beforeAll(async () => {
  // Outside the repository, so that none of its modules can be resolved.
  folder = mkdtempSync(join(tmpdir(), 'caudal-sdk-'));
  built = join(folder, 'built');
  buildPackage(built);
  const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: built });
  const [packed] = JSON.parse(stdout) as { filename: string }[];
  tarball = join(folder, packed?.filename ?? '');
  project = join(folder, 'merchant');
  mkdirSync(project);
  writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  await run('npm', ['install', '--offline', '--no-audit', '--no-fund', tarball], { cwd: project });
  cpSync(join(FIXTURES, 'merchant'), project, { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the published package', () => {
  it('contains code, types, README and license, without dependencies', () => {
    const installed = join(project, 'node_modules/@caudal/sdk');
    const files = globSync('**', { cwd: installed });
    for (const format of ['esm', 'cjs'])
      expect(files).toEqual(
        expect.arrayContaining(['index.js', 'index.js.map', 'index.d.ts'].map((name) => join(format, name))),
      );
    expect(files).toEqual(expect.arrayContaining(['README.md', 'LICENSE']));
    expect(files.filter((name) => /(?<!\.d)\.ts$/.test(name))).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as object;
    expect(manifest).not.toHaveProperty('dependencies');
    expect(manifest).not.toHaveProperty('private');
  });

  it('passes publint', async () => {
    const { messages, pkg } = await publint({ pkgDir: built, strict: true });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it('passes attw for every module system and resolution', async () => {
    const { stdout } = await run(process.execPath, [
      ATTW,
      tarball,
      '--profile',
      'strict',
      '--format',
      'json',
    ]);
    const { analysis, problems } = JSON.parse(stdout) as {
      readonly analysis: { readonly types: unknown };
      readonly problems?: object;
    };
    expect(analysis.types).toBeTruthy();
    expect(problems ?? {}).toEqual({});
  });

  it('has source maps with their sources', () => {
    for (const format of ['esm', 'cjs']) {
      const map = JSON.parse(readFileSync(join(built, format, 'client.js.map'), 'utf8')) as {
        readonly sources: readonly string[];
        readonly sourcesContent: readonly string[];
      };
      expect(map.sources).toEqual(['@caudal/sdk/src/client.ts']);
      expect(map.sourcesContent[0]).toContain('export class Caudal');
    }
  });

  it('has no imports of other packages and uses no Node globals', () => {
    for (const name of globSync('esm/**/*.js', { cwd: built })) {
      const text = readFileSync(join(built, name), 'utf8').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
      const imports = [...text.matchAll(/(?:from|import\()\s*['"]([^'"]+)['"]/g)].map(
        ([, from]) => from ?? '',
      );
      expect({ name, outside: imports.filter((from) => !from.startsWith('.')) }).toEqual({
        name,
        outside: [],
      });
      expect({ name, node: /\b(?:process|Buffer|require|__dirname|global)\b[.([]/.test(text) }).toEqual({
        name,
        node: false,
      });
    }
  });

  it('works with web platform globals only', async () => {
    const server = await faultyServer(json({ id: 'p1' }, 201), (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {"id":"019b2c5e-c1d2-7e3f-8001-8b9c0d1e2f3a"}\n\n');
    });
    const { stdout } = await run(process.execPath, [
      '--experimental-vm-modules',
      '--no-warnings',
      join(FIXTURES, 'web-globals.mjs'),
      join(built, 'esm'),
      server.url,
    ]);
    expect(JSON.parse(stdout)).toEqual({
      event: 'payout.confirmed',
      id: 'p1',
      ids: ['019b2c5e-c1d2-7e3f-8001-8b9c0d1e2f3a'],
    });
  });
});

const STRICT = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  allowImportingTsExtensions: true,
  noEmit: true,
  target: 'es2022',
};
const NODENEXT = { module: 'nodenext', moduleResolution: 'nodenext' };
const BUNDLER = { module: 'esnext', moduleResolution: 'bundler' };
const NEITHER = { lib: ['es2022'], types: [] };
const DOM = { lib: ['es2022', 'dom', 'dom.iterable', 'dom.asynciterable'], types: [] };
const NODE = {
  lib: ['es2022'],
  types: ['node'],
  typeRoots: [join(TREE, 'node_modules/@types')],
  skipLibCheck: true,
};

describe('a project that installed the package', () => {
  it.each([
    ['by the rules of Node', 'plain.ts', { ...NODENEXT, ...NEITHER }],
    ['by the rules of a bundler', 'plain.ts', { ...BUNDLER, ...NEITHER }],
    ['with the types of the web', 'platform.ts', { ...BUNDLER, ...DOM }],
    ['with the types of Node', 'platform.ts', { ...NODENEXT, ...NODE }],
  ])('compiles %s: %s', (_, file, options) => {
    expect(compiled([file], options)).toBe('');
  });

  it('does not compile invalid use', () => {
    writeFileSync(
      join(project, 'wrong.ts'),
      `import { Caudal } from '@caudal/sdk';\nvoid new Caudal({ apiKey: 'x' }).payins.get(5);\n`,
    );
    expect(compiled(['wrong.ts'], { ...NODENEXT, ...NEITHER })).toContain('TS2345');
  });

  it('compiles every example of the README', () => {
    const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
    const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? '');
    expect(blocks.length).toBeGreaterThan(6);
    const files = blocks.map((code, index) => {
      const name = `readme-${index}.ts`;
      writeFileSync(join(project, name), readmeProgram(code));
      return name;
    });
    expect(
      compiled(files, {
        ...NODENEXT,
        ...DOM,
        types: ['node'],
        typeRoots: NODE.typeRoots,
        skipLibCheck: true,
      }),
    ).toBe('');
  });

  it('runs a program', async () => {
    const server = await faultyServer(
      json({ rail: 'BRE_B', sourceData: { keyString: '@KEY' } }, 201),
      problem(409, 'reference_taken', {}, { existingId: 'p0' }),
    );
    const { stdout } = await run(process.execPath, ['--no-warnings', 'run.ts', API_KEY, server.url], {
      cwd: project,
    });
    expect(JSON.parse(stdout)).toEqual({ event: 'payin.confirmed', key: '@KEY', refused: 'p0' });
    expect(server.requests[0]?.headers['idempotency-key']).toBe('order-1001');
  });
});

/** Output of the compiler; empty without errors. */
function compiled(files: readonly string[], options: object): string {
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { ...STRICT, ...options }, files }),
  );
  const { status, stdout, stderr } = spawnSync(process.execPath, [TSC, '-p', '.'], {
    cwd: project,
    encoding: 'utf8',
  });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

/** An example with the declarations it assumes, in a function, because some examples return. */
function readmeProgram(code: string): string {
  const imports = code.match(/^import .*$/gm) ?? [];
  const body = code.replaceAll(/^import .*$/gm, '').replace('export default', 'const handler =');
  const own = (name: string) => new RegExp(`\\b(?:const|import \\{[^}]*) ?\\b${name}\\b`).test(code);
  const given = [
    ...(own('caudal') ? [] : ['declare const caudal: Caudal;']),
    ...(own('secret') ? [] : ['declare const secret: string;']),
    ...(own('body') || /const \{ body/.test(code) ? [] : ['declare const body: CreatePayin & CreatePayout;']),
    'declare const order: { id: string };',
    'declare const signal: AbortSignal;',
    'declare function later(body: unknown, key: string | null): Promise<void>;',
    'declare function markPaid(reference: string): Promise<void>;',
    'declare function orderAmount(reference: string): Promise<number>;',
    'declare function tell(reference: string, code: string | null): Promise<void>;',
  ];
  const types = `import type { Caudal as Client, CreatePayin, CreatePayout } from '@caudal/sdk';`;
  return [...imports, types, ...given, 'export async function example() {', body, '}']
    .join('\n')
    .replace('caudal: Caudal;', 'caudal: Client;');
}
