import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Dev, startDev } from '../dev.ts';

const HERE = fileURLToPath(new URL('.', import.meta.url));

let dev: Dev;
beforeAll(async () => {
  dev = await startDev();
});
afterAll(() => dev.stop());

function runSuite(environment: Readonly<Record<string, string>>) {
  // With this variable, Node's test runner detects that it runs inside another one and changes its output format.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  return spawnSync(process.execPath, ['--test', 'payments.spec.ts'], {
    cwd: HERE,
    env: { ...inherited, ...environment },
    encoding: 'utf8',
  });
}

describe('examples/merchant-tests', () => {
  it('passes against npm run dev', () => {
    const { status, stdout } = runSuite({ CAUDAL_API_KEY: dev.apiKey, CAUDAL_BASE_URL: dev.baseUrl });
    expect(stdout).toMatch(/an order is paid/);
    expect(stdout).toMatch(/a supplier is paid/);
    expect(status, `output: ${stdout}`).toBe(0);
  });

  it('fails without a server', () => {
    const { status, stdout } = runSuite({
      CAUDAL_API_KEY: dev.apiKey,
      CAUDAL_BASE_URL: 'http://127.0.0.1:9',
    });
    expect(status).toBe(1);
    expect(stdout).toMatch(/127\.0\.0\.1:9/);
  });

  it('has at most ten lines without imports and closing braces', () => {
    const text = readFileSync(`${HERE}/payments.spec.ts`, 'utf8');
    const lines = text.split('\n').filter((line) => !/^import |^$|^\}\);$/.test(line));
    expect(lines.length).toBeLessThanOrEqual(10);
  });
});
