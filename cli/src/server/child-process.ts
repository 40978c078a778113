import { spawn } from 'node:child_process';
import { EXIT, type ExitCode } from './exit-codes.ts';

/** Runs a program of ours in our place: with our terminal, to its end. */
export function runInOurPlace(
  args: readonly string[],
  env?: Readonly<Record<string, string | undefined>>,
): Promise<ExitCode> {
  const child = spawn(process.execPath, [...args], { stdio: 'inherit', ...(env ? { env } : {}) });
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void child.kill(signal));
  // A terminal's Ctrl-C reaches the child by itself; a second one would tell it to hurry.
  process.on('SIGINT', () => void (process.stdin.isTTY || child.kill('SIGINT')));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) =>
      resolve(code ?? (signal === 'SIGINT' ? EXIT.interrupted : EXIT.failed)),
    );
  });
}
