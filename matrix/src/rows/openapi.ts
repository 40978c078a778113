import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installProject } from '../npm.ts';
import type { MatrixContext, Row } from '../row.ts';
import { runProgram } from '../run-program.ts';
import { writeFiles } from '../sdk-project.ts';
import { WITH_HEY_API, WITH_OPENAPI_TYPESCRIPT } from '../sources/typed-events.ts';
import { VERSIONS } from '../versions.ts';

interface Tool {
  readonly tool: string;
  readonly modules: 'lint' | 'client';
  readonly packages: readonly string[];
  readonly files: Readonly<Record<string, string>>;
  /** Commands in node_modules/.bin. */
  readonly commands: readonly (readonly [string, ...string[]])[];
}

const REFERENCE = fileURLToPath(new URL('../../../docs/reference/', import.meta.url));
/** Rules of the linters, for the committed document and for this one. */
const CONFIGURATION = ['.spectral.yaml', 'redocly.yaml'];
const TYPESCRIPT = `typescript@${VERSIONS.typescript5}`;
const STRICT = {
  target: 'es2022',
  lib: ['es2023', 'dom', 'dom.iterable'],
  strict: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
  noEmit: true,
  types: [],
};

const TOOLS: readonly Tool[] = [
  {
    tool: `Spectral ${VERSIONS.spectral}`,
    modules: 'lint',
    packages: [`@stoplight/spectral-cli@${VERSIONS.spectral}`],
    files: {},
    commands: [['spectral', 'lint', '--fail-severity=warn', '-r', '.spectral.yaml', 'openapi.json']],
  },
  {
    tool: `Redocly ${VERSIONS.redocly}`,
    modules: 'lint',
    packages: [`@redocly/cli@${VERSIONS.redocly}`],
    files: {},
    commands: [['redocly', 'lint', '--config', 'redocly.yaml', 'openapi.json']],
  },
  {
    tool: `openapi-typescript ${VERSIONS.openapiTypescript}, strict`,
    modules: 'client',
    packages: [`openapi-typescript@${VERSIONS.openapiTypescript}`, TYPESCRIPT],
    files: {
      'use.ts': WITH_OPENAPI_TYPESCRIPT,
      'tsconfig.json': configuration({
        ...STRICT,
        module: 'nodenext',
        exactOptionalPropertyTypes: true,
      }),
    },
    commands: [
      ['openapi-typescript', 'openapi.json', '-o', 'client.ts'],
      ['tsc', '-p', '.'],
    ],
  },
  {
    // Without exactOptionalPropertyTypes, with which its own runtime files do not compile.
    tool: `hey-api ${VERSIONS.heyApi}, strict`,
    modules: 'client',
    packages: [`@hey-api/openapi-ts@${VERSIONS.heyApi}`, TYPESCRIPT],
    files: {
      'use.ts': WITH_HEY_API,
      'tsconfig.json': configuration({ ...STRICT, module: 'esnext', moduleResolution: 'bundler' }),
    },
    commands: [
      ['openapi-ts', '-i', 'openapi.json', '-o', 'client'],
      ['tsc', '-p', '.'],
    ],
  },
];

/** Linters and generators of clients, with the document that the server serves. */
export const OPENAPI_ROWS: readonly Row[] = TOOLS.map((tool) => ({
  package: 'openapi.json',
  runtime: `Node ${process.versions.node}`,
  modules: tool.modules,
  tool: tool.tool,
  run: (context) => run(context, tool),
}));

async function run({ scratch, baseUrl }: MatrixContext, tool: Tool): Promise<void> {
  const folder = join(scratch, tool.tool.split(' ', 1)[0] ?? '');
  await installProject(folder, tool.packages, 'module');
  writeFileSync(join(folder, 'openapi.json'), await (await fetch(`${baseUrl}/openapi.json`)).text());
  for (const name of CONFIGURATION) copyFileSync(join(REFERENCE, name), join(folder, name));
  writeFiles(folder, tool.files);
  for (const [program, ...args] of tool.commands)
    await runProgram(join(folder, 'node_modules', '.bin', program), args, { cwd: folder });
}

function configuration(compilerOptions: object): string {
  return JSON.stringify({ compilerOptions, exclude: ['node_modules'] });
}
