import { type ChildProcess, spawn } from 'node:child_process';

export interface CommandResult {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One shell per page, as its reader has: later blocks see the variables of earlier ones. */
export class ShellSession {
  readonly #shell: ChildProcess;
  #stdout = '';
  #stderr = '';
  #commands = 0;

  constructor(folder: string, environment: Readonly<Record<string, string | undefined>>) {
    // Its own process group, so that background processes end with it.
    this.#shell = spawn('bash', ['--norc', '--noprofile'], {
      cwd: folder,
      env: { ...environment },
      detached: true,
      stdio: 'pipe',
    });
    this.#shell.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#shell.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
  }

  async run(text: string, timeoutMs: number): Promise<CommandResult> {
    this.#commands += 1;
    const mark = `@@end-${this.#commands}`;
    const [stdoutFrom, stderrFrom] = [this.#stdout.length, this.#stderr.length];
    this.#shell.stdin?.write(
      `${text}\n{ printf '\\n${mark} %s\\n' "$?"; printf '\\n${mark}\\n' >&2; } 2>&2\n`,
    );
    const deadline = performance.now() + timeoutMs;
    for (;;) {
      const stdout = this.#stdout.slice(stdoutFrom);
      const stderr = this.#stderr.slice(stderrFrom);
      const end = stdout.indexOf(`\n${mark} `);
      if (end >= 0 && stderr.includes(`\n${mark}\n`)) {
        const status = Number(stdout.slice(end + mark.length + 2).split('\n')[0]);
        return {
          status,
          stdout: stdout.slice(0, end),
          stderr: stderr.slice(0, stderr.indexOf(`\n${mark}\n`)),
        };
      }
      if (performance.now() > deadline || this.#shell.exitCode !== null)
        throw new Error(`not finished within ${timeoutMs} ms:\n${text}\n${stdout}${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  end(): void {
    const { pid } = this.#shell;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // Already exited.
    }
  }
}
