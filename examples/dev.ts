/** `npm run dev` as a reader of an example would have it running, for the examples' tests. */
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface Dev {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly simulatorUrl: string;
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: object): Promise<T>;
  stop(): Promise<void>;
}

export async function startDev(): Promise<Dev> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-examples-'));
  // PostgreSQL runs as another user when we are root, and must be able to enter.
  chmodSync(folder, 0o755);
  const script = fileURLToPath(new URL('../scripts/dev.ts', import.meta.url));
  const child = spawn(process.execPath, [script, '--json', '--any-ports', '--data', join(folder, 'data')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('\n')) resolve(output);
    });
    void exited.then(() => reject(new Error('npm run dev ended')));
  });
  const { baseUrl, apiKey, simulatorUrl } = JSON.parse(line) as Pick<
    Dev,
    'baseUrl' | 'apiKey' | 'simulatorUrl'
  >;
  const call = async <T>(path: string, init: RequestInit): Promise<T> => {
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
    const response = await fetch(baseUrl + path, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  };
  return {
    baseUrl,
    apiKey,
    simulatorUrl,
    get: (path) => call(path, {}),
    post: (path, body) => call(path, { method: 'POST', body: JSON.stringify(body) }),
    stop: async () => {
      child.kill('SIGINT');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
