import type { Row } from '../row.ts';
import { runProgram } from '../run-program.ts';
import type { RuntimeName } from '../runtimes.ts';
import { scenarioEnvironment, sdkProject, writeFiles } from '../sdk-project.ts';
import { CJS, ESM, TEST, TYPESCRIPT } from '../sources/scenario.ts';
import { VERSIONS } from '../versions.ts';

interface RunnerRow {
  readonly tool: string;
  readonly modules: string;
  readonly runtime: readonly [RuntimeName, string];
  readonly project: string;
  readonly packages: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

const NODE20 = ['node20', `Node ${VERSIONS.node20}`] as const;
const NODE22 = ['node22', `Node ${VERSIONS.node22}`] as const;
const NODE24 = ['node24', `Node ${process.versions.node}`] as const;
const JEST = 'node_modules/jest/bin/jest.js';

/** Every runner in its default form: no transform or module context for the SDK. */
export const TEST_RUNNER_ROWS: readonly Row[] = [
  ...[NODE20, NODE24].map((runtime) =>
    runnerRow({
      tool: `Jest ${VERSIONS.jest29}`,
      modules: 'CommonJS',
      runtime,
      project: 'jest29',
      packages: [`jest@${VERSIONS.jest29}`],
      files: { 'payin.test.js': CJS + TEST },
      args: [JEST, '--ci'],
    }),
  ),
  ...[NODE22, NODE24].map((runtime) =>
    runnerRow({
      tool: `Jest ${VERSIONS.jest30}`,
      modules: 'CommonJS',
      runtime,
      project: 'jest30',
      packages: [`jest@${VERSIONS.jest30}`],
      files: { 'payin.test.js': CJS + TEST },
      args: [JEST, '--ci'],
    }),
  ),
  runnerRow({
    tool: `Jest ${VERSIONS.jest29} with Babel, import`,
    modules: 'ES modules',
    runtime: NODE24,
    project: 'jest29-babel',
    packages: [`jest@${VERSIONS.jest29}`, '@babel/preset-env@7.29.7'],
    files: {
      'payin.test.js': ESM + TEST,
      'babel.config.js': `module.exports = { presets: [['@babel/preset-env', { targets: { node: 'current' } }]] };`,
    },
    args: [JEST, '--ci'],
  }),
  runnerRow({
    tool: `ts-jest ${VERSIONS.tsJest} (as NestJS sets it up)`,
    modules: 'TypeScript',
    runtime: NODE24,
    project: 'ts-jest',
    packages: [
      `jest@${VERSIONS.jest29}`,
      `ts-jest@${VERSIONS.tsJest}`,
      `typescript@${VERSIONS.typescript5}`,
      `@types/node@${VERSIONS.typesNode}`,
    ],
    files: {
      'payin.test.ts': `declare function test(name: string, run: () => Promise<void>, ms: number): void;\n${TYPESCRIPT}${TEST.replaceAll(/process\.env\.(\w+)/g, "process.env['$1'] ?? ''")}`,
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'commonjs',
          target: 'es2022',
          strict: true,
          esModuleInterop: true,
          types: ['node'],
        },
      }),
      'jest.config.js': `module.exports = { transform: { '^.+\\\\.ts$': 'ts-jest' }, testMatch: ['**/*.test.ts'] };`,
    },
    args: [JEST, '--ci'],
  }),
  runnerRow({
    tool: `Vitest ${VERSIONS.vitest}`,
    modules: 'ES modules',
    runtime: NODE24,
    project: 'vitest',
    packages: [`vitest@${VERSIONS.vitest}`],
    files: { 'payin.test.mjs': `import { test } from 'vitest';\n${ESM}${TEST}` },
    args: ['node_modules/vitest/vitest.mjs', 'run'],
  }),
  ...[NODE20, NODE24].map((runtime) =>
    runnerRow({
      tool: 'node:test',
      modules: 'ES modules',
      runtime,
      project: 'scripts',
      packages: [],
      files: {
        'node-test.mjs': `import { test } from 'node:test';\n${ESM}${TEST.replace(', 60_000', '')}`,
      },
      args: ['--test', 'node-test.mjs'],
    }),
  ),
  runnerRow({
    tool: 'bun test',
    modules: 'ES modules',
    runtime: ['bun', `Bun ${VERSIONS.bun}`],
    project: 'bun-test',
    packages: [],
    files: { 'payin.test.js': `import { test } from 'bun:test';\n${ESM}${TEST}` },
    args: ['test'],
  }),
];

function runnerRow({
  tool,
  modules,
  runtime: [name, runtime],
  project,
  packages,
  files,
  args,
}: RunnerRow): Row {
  return {
    package: '@caudal/sdk',
    runtime,
    modules,
    tool,
    run: async (context) => {
      const folder = await sdkProject(context, project, packages);
      writeFiles(folder, files);
      const program = await context.runtimes.path(name);
      await runProgram(program, args, { cwd: folder, env: scenarioEnvironment(context) });
    },
  };
}
