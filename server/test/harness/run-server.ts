import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SERVER_MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the server with these arguments to its end, whatever that is: for tests of how it fails. */
export function runToEnd(
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  main = SERVER_MAIN,
  withinMs = 20_000,
): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [main, ...args], {
      // Nothing of our own environment: a test must not depend on where it runs.
      env: {
        PATH: process.env['PATH'] ?? '',
        HOME: process.env['HOME'] ?? '/',
        // Halves the time to start, and most of what these tests do is start.
        NODE_COMPILE_CACHE: join(tmpdir(), 'caudal-compile-cache'),
        ...settings,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    // A server that starts where it should refuse is a failure, not a hanging test.
    const late = setTimeout(() => child.kill('SIGKILL'), withinMs);
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
      clearTimeout(late);
      resolve({ code, stdout, stderr });
    });
  });
}
