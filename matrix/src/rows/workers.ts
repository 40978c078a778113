import { spawn } from 'node:child_process';
import { freePort } from '../../../scripts/stack/free-port.ts';
import type { MatrixContext, Row } from '../row.ts';
import { plainEnvironment, runProgram } from '../run-program.ts';
import { sdkProject, writeFiles } from '../sdk-project.ts';
import { ESM, WORKER } from '../sources/scenario.ts';
import { VERSIONS } from '../versions.ts';

const READY_WITHIN_MS = 20_000;

export const WORKER_ROWS: readonly Row[] = [
  {
    package: '@caudal/sdk',
    runtime: `workerd ${VERSIONS.workerd} (Cloudflare Workers)`,
    modules: 'ES modules',
    tool: `esbuild ${VERSIONS.esbuild}`,
    run,
  },
];

async function run(context: MatrixContext): Promise<void> {
  const program = await context.runtimes.path('workerd');
  const folder = await sdkProject(context, 'worker', [`esbuild@${VERSIONS.esbuild}`]);
  const port = await freePort();
  writeFiles(folder, { 'worker.mjs': ESM + WORKER, 'config.capnp': config(port) });
  const args = [
    'worker.mjs',
    '--bundle',
    '--format=esm',
    '--outfile=bundled.js',
    '--conditions=workerd,worker',
  ];
  await runProgram('node_modules/esbuild/bin/esbuild', args, { cwd: folder });
  const worker = spawn(program, ['serve', 'config.capnp'], {
    cwd: folder,
    env: plainEnvironment(folder),
    stdio: 'ignore',
  });
  try {
    const result = await callWorker(`http://127.0.0.1:${port}/`, {
      baseUrl: context.baseUrl,
      apiKey: context.apiKey,
      deliveriesUrl: context.deliveries.url,
    });
    if (result !== 'payin.confirmed') throw new Error(result);
  } finally {
    worker.kill('SIGKILL');
  }
}

async function callWorker(url: string, input: object): Promise<string> {
  const deadline = performance.now() + READY_WITHIN_MS;
  for (;;) {
    try {
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(input) });
      return await response.text();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

function config(port: number): string {
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker.js", esModule = embed "bundled.js")],
      compatibilityDate = "2026-10-01",
      globalOutbound = "network"
    )),
    (name = "network", network = (allow = ["private", "public"]))
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")]
);
`;
}
