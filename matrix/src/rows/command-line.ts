import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { webhooks } from '../../../sdk/src/index.ts';
import { npm } from '../npm.ts';
import type { MatrixContext, Row } from '../row.ts';
import { runProgram } from '../run-program.ts';
import type { RuntimeName } from '../runtimes.ts';
import { VERSIONS } from '../versions.ts';

const NODES: readonly (readonly [RuntimeName, string])[] = [
  ['node20', VERSIONS.node20],
  ['node22', VERSIONS.node22],
  ['node24', process.versions.node],
];

/** Installed from the deployment; `caudal listen --forward-to` delivers to a receiver that verifies the signature. */
export const COMMAND_LINE_ROWS: readonly Row[] = NODES.map(([name, version]) => ({
  package: '@caudal/cli',
  runtime: `Node ${version}`,
  modules: 'command',
  tool: 'npm install --global <deployment>/packages/…, listen --forward-to',
  run: (context) => run(context, name),
}));

async function run(context: MatrixContext, name: RuntimeName): Promise<void> {
  const { scratch, baseUrl, apiKey, packages } = context;
  const folder = join(scratch, `cli-${name}`);
  mkdirSync(folder);
  await npm(folder, ['install', '--global', '--prefix', folder, `${baseUrl}/packages/${packages.cliName}`]);
  const node = await context.runtimes.path(name);
  const caudal = (...args: readonly string[]) =>
    runProgram(node, [join(folder, 'bin', 'caudal'), ...args], {
      cwd: folder,
      env: { CAUDAL_BASE_URL: baseUrl, CAUDAL_API_KEY: apiKey },
    });
  const version = await caudal('--version');
  if (!packages.cliName.includes(`-${version.trim().split(' ')[1]}.tgz`))
    throw new Error(`--version: ${version}`);
  const created = JSON.parse(await caudal('payins', 'create', '--amount', '49800', '--json')) as {
    status?: string;
  };
  if (created.status !== 'PROCESSING') throw new Error(`payins create: ${JSON.stringify(created)}`);
  await forward(caudal);
}

async function forward(caudal: (...args: readonly string[]) => Promise<string>): Promise<void> {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const verified: string[] = [];
  const receive = webhooks.receiver({ secret, onEvent: ({ event }) => void verified.push(event) });
  const receiver = createServer((request, response) => {
    text(request)
      .then((body) => receive(body, request.headers))
      .then(
        ({ status }) => response.writeHead(status).end(),
        () => response.writeHead(500).end(),
      );
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  const { port } = receiver.address() as AddressInfo;
  try {
    const address = `http://127.0.0.1:${port}/webhooks`;
    const trigger = ['--trigger', 'payin.confirmed', '--exit-after', '1', '--timeout', '60s'];
    await caudal('listen', '--forward-to', address, '--secret', secret, ...trigger);
  } finally {
    receiver.close();
  }
  if (!verified.includes('payin.confirmed')) throw new Error('listen forwarded no verified event');
}
