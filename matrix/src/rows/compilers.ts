import { join } from 'node:path';
import type { MatrixContext, Row } from '../row.ts';
import { runProgram } from '../run-program.ts';
import { sdkProject, writeFiles } from '../sdk-project.ts';
import { TYPESCRIPT, TYPESCRIPT_MAIN } from '../sources/scenario.ts';
import { VERSIONS } from '../versions.ts';
import { runScenario } from './scripts.ts';

interface CompilerRow {
  readonly version: string;
  readonly module: string;
  readonly moduleResolution: string;
  readonly type: 'module' | 'commonjs';
}

const ROWS: readonly CompilerRow[] = [
  { version: VERSIONS.typescript5, module: 'node16', moduleResolution: 'node16', type: 'module' },
  { version: VERSIONS.typescript5, module: 'node16', moduleResolution: 'node16', type: 'commonjs' },
  { version: VERSIONS.typescript5, module: 'commonjs', moduleResolution: 'node10', type: 'commonjs' },
  { version: VERSIONS.typescript5, module: 'esnext', moduleResolution: 'bundler', type: 'module' },
  { version: VERSIONS.typescript7, module: 'nodenext', moduleResolution: 'nodenext', type: 'commonjs' },
  { version: VERSIONS.typescript7, module: 'esnext', moduleResolution: 'bundler', type: 'module' },
];

/** TypeScript projects: compiled strictly, also the declarations of the SDK, then run on the oldest Node. */
export const COMPILER_ROWS: readonly Row[] = ROWS.map((row) => ({
  package: '@caudal/sdk',
  runtime: `Node ${VERSIONS.node20}`,
  modules: row.type === 'module' ? 'ES modules' : 'CommonJS',
  tool: `TypeScript ${row.version}, ${row.moduleResolution}`,
  run: (context) => compileAndRun(context, row),
}));

async function compileAndRun(
  context: MatrixContext,
  { version, module, moduleResolution, type }: CompilerRow,
): Promise<void> {
  const name = `typescript-${version}-${moduleResolution}-${type}`;
  const packages = [
    `typescript@${version}`,
    `@types/node@${VERSIONS.typesNode}`,
    `esbuild@${VERSIONS.esbuild}`,
  ];
  const folder = await sdkProject(context, name, packages, type);
  writeFiles(folder, {
    'main.ts': TYPESCRIPT + TYPESCRIPT_MAIN,
    'tsconfig.json': JSON.stringify({
      compilerOptions: {
        module,
        moduleResolution,
        target: 'es2022',
        strict: true,
        exactOptionalPropertyTypes: true,
        noUncheckedIndexedAccess: true,
        noPropertyAccessFromIndexSignature: true,
        skipLibCheck: false,
        types: ['node'],
        outDir: 'out',
      },
      files: ['main.ts'],
    }),
  });
  await runProgram(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], { cwd: folder });
  const compiled = moduleResolution === 'bundler' ? await bundle(folder) : join('out', 'main.js');
  await runScenario(context, await context.runtimes.path('node20'), [compiled], folder);
}

/** Node cannot run what is written for a bundler as it is in all cases, so a bundler makes one file of it. */
async function bundle(folder: string): Promise<string> {
  const args = ['out/main.js', '--bundle', '--platform=node', '--format=esm', '--outfile=bundled.mjs'];
  await runProgram('node_modules/esbuild/bin/esbuild', [...args, '--log-level=warning'], { cwd: folder });
  return 'bundled.mjs';
}
