import { spawn } from 'node:child_process';
import { EXIT, type ExitCode } from '../framework/exit-codes.ts';

/** Runs a Node program on this terminal until it exits, and returns its exit code. */
export function runChildProcess(
  args: readonly string[],
  env?: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  const child = spawn(process.execPath, [...args], { stdio: 'inherit', ...(env ? { env } : {}) });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill(signal));
  // A terminal sends Ctrl-C to the child too; a second SIGINT would force it to exit.
  process.on('SIGINT', () => void (process.stdin.isTTY || child.kill('SIGINT')));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? (signal === 'SIGINT' ? EXIT.interrupted : EXIT.failed)),
    );
  });
}
