import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { Caudal } from '../../../sdk/src/index.ts';
import type { MatrixContext, Row } from '../row.ts';
import { plainEnvironment, runProgram } from '../run-program.ts';
import { sdkProject, writeFiles } from '../sdk-project.ts';
import { VERSIONS } from '../versions.ts';

interface Framework {
  readonly tool: string;
  readonly modules: 'ES modules' | 'CommonJS';
  /** The example in sdk/examples/webhooks, and its place in the project. */
  readonly example: string;
  readonly place: string;
  readonly packages: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  /** Commands of Node before the start. */
  readonly build?: readonly (readonly string[])[];
  readonly start: readonly string[];
}

const EXAMPLES = fileURLToPath(new URL('../../../sdk/examples/webhooks/', import.meta.url));
const WITHIN_MS = 60_000;
const COMPILER = [
  `typescript@${VERSIONS.typescript5}`,
  `@types/node@${VERSIONS.typesNode}`,
  `@types/express@${VERSIONS.typesExpress}`,
];
const TSC = ['node_modules/typescript/bin/tsc', '-p', '.'];
/** Node strips the types and runs the file as it is. */
const CHECK_ONLY = JSON.stringify({
  compilerOptions: { module: 'nodenext', target: 'es2022', strict: true, skipLibCheck: true, noEmit: true },
  files: ['main.ts'],
});

const FRAMEWORKS: readonly Framework[] = [
  {
    tool: `Express ${VERSIONS.express}`,
    modules: 'ES modules',
    example: 'express.ts',
    place: 'main.ts',
    packages: [`express@${VERSIONS.express}`, ...COMPILER],
    files: { 'tsconfig.json': CHECK_ONLY },
    build: [TSC],
    start: ['main.ts'],
  },
  {
    tool: `Fastify ${VERSIONS.fastify}`,
    modules: 'ES modules',
    example: 'fastify.ts',
    place: 'main.ts',
    packages: [`fastify@${VERSIONS.fastify}`, ...COMPILER],
    files: { 'tsconfig.json': CHECK_ONLY },
    build: [TSC],
    start: ['main.ts'],
  },
  {
    tool: `NestJS ${VERSIONS.nest}`,
    modules: 'CommonJS',
    example: 'nestjs.ts',
    place: 'main.ts',
    packages: [
      ...['common', 'core', 'platform-express'].map((name) => `@nestjs/${name}@${VERSIONS.nest}`),
      `reflect-metadata@${VERSIONS.reflectMetadata}`,
      `rxjs@${VERSIONS.rxjs}`,
      ...COMPILER,
    ],
    files: {
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          module: 'commonjs',
          target: 'es2022',
          strict: true,
          esModuleInterop: true,
          experimentalDecorators: true,
          emitDecoratorMetadata: true,
          skipLibCheck: true,
          outDir: 'out',
        },
        files: ['main.ts'],
      }),
    },
    build: [TSC],
    start: ['out/main.js'],
  },
  {
    tool: `Next.js ${VERSIONS.next}`,
    modules: 'ES modules',
    example: 'nextjs.ts',
    place: 'app/webhooks/route.ts',
    packages: [
      `next@${VERSIONS.next}`,
      `react@${VERSIONS.react}`,
      `react-dom@${VERSIONS.react}`,
      `@types/react@${VERSIONS.typesReact}`,
      ...COMPILER,
    ],
    files: {
      'app/layout.tsx':
        'export default function Layout({ children }: { children: React.ReactNode }) { return <html lang="es"><body>{children}</body></html>; }',
    },
    build: [['node_modules/next/dist/bin/next', 'build']],
    start: ['node_modules/next/dist/bin/next', 'start', '--hostname', '127.0.0.1'],
  },
];

/** The example of each framework receives a webhook of the running server and rejects a forged one. */
export const FRAMEWORK_ROWS: readonly Row[] = FRAMEWORKS.map((framework) => ({
  package: '@caudal/sdk',
  runtime: `Node ${process.versions.node}`,
  modules: framework.modules,
  tool: `webhooks with ${framework.tool}`,
  run: (context) => run(context, framework),
}));

async function run(context: MatrixContext, framework: Framework): Promise<void> {
  const type = framework.modules === 'CommonJS' ? 'commonjs' : 'module';
  const folder = await sdkProject(context, framework.example, framework.packages, type);
  mkdirSync(dirname(join(folder, framework.place)), { recursive: true });
  copyFileSync(join(EXAMPLES, framework.example), join(folder, framework.place));
  writeFiles(folder, framework.files ?? {});
  for (const args of framework.build ?? []) await runProgram(process.execPath, args, { cwd: folder });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/webhooks`;
  const caudal = new Caudal({ baseUrl: context.baseUrl, apiKey: context.apiKey });
  const endpoint = await caudal.webhookEndpoints.create({ url });
  const app = startApp(folder, framework.start, { PORT: `${port}`, CAUDAL_WEBHOOK_SECRET: endpoint.secret });
  try {
    await until('the program listens', () => postForged(url), app);
    const { id } = await caudal.payins.create({
      amountInCents: 4_980_000,
      currency: 'COP',
      rail: 'BRE_B',
      reference: `matrix-${crypto.randomUUID()}`,
      inlineCustomer: {
        name: 'Ana Rojas',
        idType: 'CO_CC',
        idNumber: '1000000001',
        phone: '+573001234567',
        email: 'ana@example.com',
      },
      breb: { keyType: 'SINGLE_USE' },
    });
    await until(
      'the program reports the event',
      async () => {
        const [event] = (await caudal.events.list({ resourceId: id })).data;
        return event !== undefined && app.output().includes(event.id);
      },
      app,
    );
  } finally {
    app.process.kill('SIGKILL');
    await caudal.webhookEndpoints.delete(endpoint.id);
  }
}

interface App {
  readonly process: ChildProcess;
  output(): string;
}

function startApp(cwd: string, args: readonly string[], env: Readonly<Record<string, string>>): App {
  const child = spawn(process.execPath, [...args], {
    cwd,
    env: { ...plainEnvironment(cwd), NODE_NO_WARNINGS: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  return { process: child, output: () => output };
}

/** Whether the program runs. @throws when it accepts a body without a signature */
async function postForged(url: string): Promise<boolean> {
  const response = await fetch(url, { method: 'POST', body: '{"event":"payin.confirmed"}' }).catch(
    () => null,
  );
  if (response !== null && response.status !== 400)
    throw new Error(`a forged webhook got ${response.status}`);
  return response !== null;
}

async function until(what: string, condition: () => Promise<boolean>, app: App): Promise<void> {
  const deadline = performance.now() + WITHIN_MS;
  while (!(await condition())) {
    if (performance.now() > deadline || app.process.exitCode !== null)
      throw new Error(`expected that ${what}; its output:\n${app.output().slice(-3000)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
