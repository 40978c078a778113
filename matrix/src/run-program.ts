import { spawn } from 'node:child_process';

interface ProgramOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly withinMs?: number;
}

/** The matrix talks to the npm registry and to this machine only. */
const NO_TELEMETRY = {
  DO_NOT_TRACK: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  DENO_NO_UPDATE_CHECK: '1',
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
};

/** Environment of a merchant's machine: nothing of this repository or of the developer who runs the matrix. */
export function plainEnvironment(home: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, NO_COLOR: '1', CI: 'true', ...NO_TELEMETRY };
}

/** Runs a program to its end and returns what it printed. @throws with the output when it fails */
export function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env = {}, withinMs = 120_000 }: ProgramOptions,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args], {
      cwd,
      env: { ...plainEnvironment(cwd), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: withinMs,
      killSignal: 'SIGKILL',
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === 0) resolve(stdout);
      else {
        const command = [program, ...args].join(' ');
        reject(
          new Error(`${command} ended with ${signal ?? code}\n${stdout.slice(-3000)}${stderr.slice(-3000)}`),
        );
      }
    });
  });
}
