import { print, type tally } from '../../../chaos/src/run/outcome.ts';
import type { Stage } from './stage.ts';

interface Finding {
  readonly name: string;
  /** Null if all is well. */
  readonly wrong: string | null;
}

export async function checkAftermath(stage: Stage, counts: ReturnType<typeof tally>): Promise<void> {
  for (const { name, wrong } of await findAftermath(stage)) {
    if (wrong === null) counts.pass();
    else counts.fail(`${name}: ${wrong}`);
  }
  const { logs, sink } = stage;
  print(
    `  ${logs.lines.toLocaleString('en')} log lines, ${sink.received.toLocaleString('en')} webhooks received`,
  );
}

/** What must hold after a run: all processes alive, the ledger whole, nothing wrong in the logs or the webhooks. */
export async function findAftermath(stage: Stage): Promise<Finding[]> {
  const { stack, logs, sink } = stage;
  const dead = [...stack.apis, ...stack.workers, stack.simulator].filter(({ alive }) => !alive);
  return [
    { name: 'processes', wrong: list(dead.map((member) => `${member.name} ended: ${member.output()}`)) },
    { name: 'ledger', wrong: await verifyLedger(stage) },
    { name: 'webhooks', wrong: list(sink.leaks) },
    {
      name: 'logs',
      wrong: logs.found === 0 ? null : `${logs.found} of ${logs.lines} lines:\n${logs.findings.join('\n')}`,
    },
  ];
}

function list(findings: readonly string[]): string | null {
  return findings.length === 0 ? null : findings.join('\n');
}

async function verifyLedger({ stack }: Stage): Promise<string | null> {
  try {
    const output = await stack.command('ledger', 'verify');
    print(`  ledger verify: ${output.trim().split('\n').at(-1) ?? ''}`);
    return null;
  } catch (error) {
    return String(error);
  }
}
