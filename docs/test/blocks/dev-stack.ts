import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';

const DEV = fileURLToPath(new URL('../../../scripts/dev.ts', import.meta.url));

/** What `npm run dev` starts, with data of its own. */
export interface DevStack {
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
  readonly folder: string;
  /** For a receiver of webhooks: what the pages call 3000. */
  readonly receiverPort: number;
  /** What the server was started with. */
  readonly settings: Readonly<Record<string, string | undefined>>;
  stop(): Promise<void>;
}

export async function startDevStack(): Promise<DevStack> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-docs-'));
  // As root, PostgreSQL runs as another user, who must reach it.
  chmodSync(folder, 0o755);
  const child = spawn(process.execPath, [DEV, '--json', '--any-ports', '--data', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const line = await firstLine(child);
  const { baseUrl, simulatorUrl, apiKey } = JSON.parse(line) as DevStack;
  return {
    baseUrl,
    simulatorUrl,
    apiKey,
    folder,
    receiverPort: await freePort(),
    settings: parseEnv(readFileSync(join(folder, 'server.env'), 'utf8')),
    stop: async () => {
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let stdout = '';
    let stderr = '';
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const [line, rest] = stdout.split('\n', 2);
      if (rest !== undefined && line) resolve(line);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.once('exit', (code) => reject(new Error(`npm run dev ended with ${code}:\n${stderr}`)));
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
