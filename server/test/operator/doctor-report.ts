import { runOperatorCommand } from '../harness/operator-command.ts';
import type { Ended } from '../harness/run-server.ts';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly says: string;
  readonly todo: string | null;
}

export interface Examined {
  readonly code: number | null;
  readonly tookMs: number;
  readonly checks: readonly Check[];
  /** @throws when doctor said nothing of it */
  readonly of: (name: string) => Check;
  /** Names of those that are not well. */
  readonly troubled: readonly string[];
}

/** What `caudal doctor` finds with these settings. */
export async function examined(settings: Readonly<Record<string, string>>): Promise<Examined> {
  return readExamined(await runOperatorCommand(settings, 'doctor', '--json'));
}

export function readExamined({ code, stdout, stderr }: Ended): Examined {
  if (stdout === '') throw new Error(`doctor said nothing, but: ${stderr}`);
  const { checks, tookMs } = JSON.parse(stdout) as { checks: Check[]; tookMs: number };
  return {
    code,
    tookMs,
    checks,
    of: (name) => {
      const check = checks.find((each) => each.name === name);
      if (!check) throw new Error(`nothing about ${name} in ${checks.map((each) => each.name).join(', ')}`);
      return check;
    },
    troubled: checks.filter(({ status }) => status === 'warn' || status === 'fail').map(({ name }) => name),
  };
}
