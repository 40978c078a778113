import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { ApiClient } from '../server/test/harness/api-client.ts';
import { until } from '../server/test/harness/until.ts';

const DEV = fileURLToPath(new URL('dev.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'caudal-dev-'));
// When the test runs as root, PostgreSQL runs as another user and needs access.
chmodSync(folder, 0o755);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Ready {
  readonly ready: true;
  readonly baseUrl: string;
  readonly checkoutUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
}

const STACK = join(folder, 'data', 'stack.json');

/** Starts the command like a developer and reads its output. */
function startDev(...flags: readonly string[]) {
  return startRun(process.execPath, [DEV, '--any-ports', '--data', join(folder, 'data'), ...flags]);
}

async function startRun(program: string, args: readonly string[], env: NodeJS.ProcessEnv = process.env) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env });
  let output = '';
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const exited = new Promise<number | null>((resolve) => child.once('close', resolve));
  const printed = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('\n')) resolve(output);
    });
    void exited.then((code) => reject(new Error(`ended with ${code}: ${errors}`)));
  });
  return { child, exited, printed, output: () => output, errors: () => errors };
}

/** Command lines of processes that were started for this folder and are still running. */
function runningProcesses(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => readCommandLine(pid))
    .filter((command) => command.includes(folder));
}

function readCommandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return '';
  }
}

const BODY = {
  amountInCents: 4_980_000,
  currency: 'COP',
  rail: 'BRE_B',
  reference: 'dev-test-1',
  breb: { keyType: 'SINGLE_USE' },
};

describe('npm run dev', () => {
  /** What the first run printed, and a payin created in it; the later tests restart in its folder. */
  let ready: Ready;
  let payinId = '';
  const api = (baseUrl: string) => new ApiClient(baseUrl, { 'x-api-key': ready.apiKey });

  it('prints one JSON line when ready, refuses a second run, and stops all processes on Ctrl-C', async () => {
    const first = await startDev('--json');
    ready = JSON.parse(first.printed) as Ready;
    expect(ready).toEqual({
      ready: true,
      baseUrl: expect.stringMatching(/^http:/),
      checkoutUrl: expect.stringMatching(/^http:/),
      simulatorUrl: expect.stringMatching(/^http:/),
      apiKey: expect.stringMatching(/^cdl_test_/),
    });
    const { ready: _ready, ...addresses } = ready;
    expect(JSON.parse(readFileSync(STACK, 'utf8'))).toEqual({
      ...addresses,
      opsUrl: expect.stringMatching(/^http:/),
      pid: first.child.pid,
    });
    // The file contains an API key.
    expect(statSync(STACK).mode & 0o777).toBe(0o600);
    const created = await api(ready.baseUrl).post<{ id: string }>('/payins', BODY);
    expect(created.status).toBe(201);
    payinId = created.body.id;
    expect((await fetch(`${ready.baseUrl}/docs`)).status).toBe(200);
    expect((await fetch(ready.simulatorUrl)).status).toBe(200);
    // A second run in the same folder fails and does not touch the file of the first.
    await expect(startDev('--json')).rejects.toThrow('another process is using');
    expect(existsSync(STACK)).toBe(true);
    first.child.kill('SIGINT');
    expect(await first.exited).toBe(0);
    expect(existsSync(STACK)).toBe(false);
    expect(first.output().trim().split('\n')).toHaveLength(1);
    expect(runningProcesses()).toEqual([]);
  });

  it('keeps data and API key across restarts, and names the next commands', async () => {
    const second = await startDev();
    expect(second.output()).toContain(ready.apiKey);
    for (const next of ['caudal -- listen', 'caudal -- trigger payin.confirmed', 'caudal -- doctor'])
      expect(second.output()).toContain(`npm run --silent ${next}`);
    const baseUrl = /API\s+(http\S+)/.exec(second.output())?.[1] ?? '';
    expect((await api(baseUrl).get(`/payins/${payinId}`)).status).toBe(200);
    second.child.kill('SIGTERM');
    expect(await second.exited).toBe(0);
  });

  it('--fresh deletes the data and keeps the API key', async () => {
    const third = await startDev('--json', '--fresh');
    const { baseUrl: freshUrl, apiKey } = JSON.parse(third.printed) as Ready;
    expect(apiKey).toBe(ready.apiKey);
    expect((await api(freshUrl).get(`/payins/${payinId}`)).status).toBe(404);
    third.child.kill('SIGINT');
    expect(await third.exited).toBe(0);
    expect(runningProcesses()).toEqual([]);
  });

  it('stops all processes when npm or the shell in between is killed', async () => {
    // The colon keeps the shell process: with a single command the shell would exec it.
    const script = `'${process.execPath}' '${DEV}' --any-ports --json --data '${join(folder, 'data')}'; :`;
    const env = { ...process.env, npm_lifecycle_event: 'dev' };
    const { child } = await startRun('sh', ['-c', script], env);
    const { pid } = JSON.parse(readFileSync(STACK, 'utf8')) as { pid: number };
    child.kill('SIGKILL');
    try {
      await until('no process is running', async () => runningProcesses().length === 0);
      expect(existsSync(STACK)).toBe(false);
    } finally {
      if (runningProcesses().length > 0) process.kill(pid, 'SIGTERM');
    }
  });

  it('exits with code 2 and prints the help for an unknown option', async () => {
    const child = spawn(process.execPath, [DEV, '--frsh'], { stdio: ['ignore', 'ignore', 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(2);
    expect(errors).toContain('--fresh');
  });
});
