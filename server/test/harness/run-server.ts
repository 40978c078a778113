import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '../../../scripts/stack/compile-cache.ts';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';

const SERVER_MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface ExitResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the server until it exits, for tests of startup failures. */
export function runToEnd(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  main = SERVER_MAIN,
  withinMs = PATIENCE_MS,
): Promise<ExitResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], {
      // The child inherits nothing else from our environment: a test must not depend on where it runs.
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '/',
        NODE_COMPILE_CACHE: COMPILE_CACHE,
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // A server that starts although it should exit is a test failure, not a hanging test.
    const timeout = setTimeout(() => child.kill('SIGKILL'), withinMs);
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      clearTimeout(timeout);
      resolve({ code, stdout, stderr });
    });
  });
}
