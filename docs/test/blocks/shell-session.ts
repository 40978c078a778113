import { type ChildProcess, spawn } from 'node:child_process';

export interface Ran {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One shell for a whole page, as its reader has: what a block sets, a later one finds. */
export class ShellSession {
  readonly #shell: ChildProcess;
  #stdout = '';
  #stderr = '';
  #commands = 0;

  constructor(folder: string, environment: Readonly<Record<string, string | undefined>>) {
    // A group of its own, so that what it started in the background ends with it.
    this.#shell = spawn('bash', ['--norc', '--noprofile'], {
      cwd: folder,
      env: { ...environment },
      detached: true,
      stdio: 'pipe',
    });
    this.#shell.stdout?.setEncoding('utf8').on('data', (text: string) => (this.#stdout += text));
    this.#shell.stderr?.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
  }

  async run(text: string, withinMs: number): Promise<Ran> {
    this.#commands += 1;
    const mark = `@@end-${this.#commands}`;
    const [stdoutFrom, stderrFrom] = [this.#stdout.length, this.#stderr.length];
    this.#shell.stdin?.write(
      `${text}\n{ printf '\\n${mark} %s\\n' "$?"; printf '\\n${mark}\\n' >&2; } 2>&2\n`,
    );
    const deadline = performance.now() + withinMs;
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
        throw new Error(`no end within ${withinMs} ms:\n${text}\n${stdout}${stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  end(): void {
    const { pid } = this.#shell;
    try {
      if (pid !== undefined) process.kill(-pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  }
}
