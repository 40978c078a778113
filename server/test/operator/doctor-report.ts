import { runOperatorCommand } from '../harness/operator-command.ts';
import type { ExitResult } from '../harness/run-server.ts';

interface Check {
  readonly name: string;
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly message: string;
  readonly todo: string | null;
}

export interface DoctorReport {
  readonly code: number | null;
  readonly tookMs: number;
  readonly checks: readonly Check[];
  /** @throws when the report has no such check */
  readonly check: (name: string) => Check;
  /** Names of the checks with status warn or fail. */
  readonly problems: readonly string[];
}

/** Runs `caudal doctor` with these settings. */
export async function runDoctor(settings: Readonly<Record<string, string>>): Promise<DoctorReport> {
  return parseDoctorReport(await runOperatorCommand(settings, 'doctor', '--json'));
}

export function parseDoctorReport({ code, stdout, stderr }: ExitResult): DoctorReport {
  if (stdout === '') throw new Error(`doctor printed no report: ${stderr}`);
  const { checks, tookMs } = JSON.parse(stdout) as { checks: Check[]; tookMs: number };
  return {
    code,
    tookMs,
    checks,
    check: (name) => {
      const check = checks.find((each) => each.name === name);
      if (!check)
        throw new Error(
          `the report has no check ${name}, only ${checks.map((each) => `${each.name}: ${each.status} (${each.message})`).join(', ')}`,
        );
      return check;
    },
    problems: checks.filter(({ status }) => status === 'warn' || status === 'fail').map(({ name }) => name),
  };
}
