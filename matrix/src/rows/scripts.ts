import { join } from 'node:path';
import { installProject } from '../npm.ts';
import type { MatrixContext, Row } from '../row.ts';
import { runProgram } from '../run-program.ts';
import type { RuntimeName } from '../runtimes.ts';
import { scenarioEnvironment, sdkProject, writeFiles } from '../sdk-project.ts';
import { CJS, ESM, MAIN } from '../sources/scenario.ts';
import { VERSIONS } from '../versions.ts';

const NODES: readonly (readonly [RuntimeName, string])[] = [
  ['node20', `Node ${VERSIONS.node20}`],
  ['node22', `Node ${VERSIONS.node22}`],
  ['node24', `Node ${process.versions.node}`],
];
const DENO = [
  'run',
  '--no-prompt',
  '--allow-net',
  '--allow-env',
  '--allow-read',
  '--node-modules-dir=manual',
];

/** A program that a runtime runs directly. */
export const SCRIPT_ROWS: readonly Row[] = [
  ...NODES.flatMap(([name, runtime]) => bothModules(name, runtime, [])),
  ...bothModules('bun', `Bun ${VERSIONS.bun}`, ['run']),
  ...bothModules('deno', `Deno ${VERSIONS.deno}`, DENO),
  {
    package: '@caudal/sdk',
    runtime: `Node ${process.versions.node}`,
    modules: 'ES modules',
    tool: 'npm install <deployment>/packages/…',
    run: runInstalledFromServer,
  },
];

function bothModules(name: RuntimeName, runtime: string, args: readonly string[]): readonly Row[] {
  return [['main.mjs', 'ES modules', ESM] as const, ['main.cjs', 'CommonJS', CJS] as const].map(
    ([file, modules, source]) => ({
      package: '@caudal/sdk',
      runtime,
      modules,
      tool: 'program',
      run: async (context) => {
        const folder = await sdkProject(context, 'scripts');
        writeFiles(folder, { [file]: source + MAIN });
        await runScenario(context, await context.runtimes.path(name), [...args, file], folder);
      },
    }),
  );
}

async function runInstalledFromServer(context: MatrixContext): Promise<void> {
  const folder = join(context.scratch, 'from-server');
  await installProject(folder, [`${context.baseUrl}/packages/${context.packages.sdkName}`]);
  writeFiles(folder, { 'main.mjs': ESM + MAIN });
  await runScenario(context, process.execPath, ['main.mjs'], folder);
}

/** @throws unless the program prints the event */
export async function runScenario(
  context: MatrixContext,
  program: string,
  args: readonly string[],
  cwd: string,
): Promise<void> {
  const output = await runProgram(program, args, { cwd, env: scenarioEnvironment(context) });
  if (output.trim() !== 'payin.confirmed') throw new Error(`printed ${output}`);
}
