/** npm run bench: the numbers of the scoreboard, each beside its bare twin, measured in one run. */
import { execFileSync } from 'node:child_process';
import { cpus, totalmem } from 'node:os';
import { parseArgs } from 'node:util';
import { benchConfirmPayins } from './confirm-payins.ts';
import { benchCreatePayins } from './create-payins.ts';
import { benchDeliverWebhooks } from './deliver-webhooks.ts';
import { benchHangingEndpoints } from './hanging-endpoints.ts';
import { benchPayroll } from './payroll.ts';
import { buildStage } from './stage.ts';
import { benchWaitingPayins } from './waiting-payins.ts';

const CONFIRMATIONS = { steadySeconds: 60, flood: 10_000 };
const QUICK_CONFIRMATIONS = { steadySeconds: 5, flood: 2000 };
const DELIVERIES = { events: 1000, rounds: 5, alone: true };
const QUICK_DELIVERIES = { events: 250, rounds: 1, alone: false };
/** Over few organizations an event has ten deliveries; over many it has one, and there are more lines for fewer of them. */
const HANGING = { seconds: 30, organizations: [20, 200], withoutToo: true };
const QUICK_HANGING = { seconds: 5, organizations: [20], withoutToo: false };

const HELP = `npm run bench [-- OPTIONS]

  --quick      under a minute
  --webhooks   P6 and R5 only
  --help       this text

Prints P1, P8, C1 (confirmations), D1 (a payroll), P6 (webhooks), R5 (endpoints that hang) and, without --quick, W1 (a million waiting). Needs pgbench (Debian: apt-get install postgresql).
`;

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, webhooks: { type: 'boolean' }, help: { type: 'boolean' } },
  strict: true,
});
if (values.help) {
  process.stdout.write(HELP);
} else {
  console.log(
    `commit ${commit()}, Node ${process.version}, ${cpus().length} cores of ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
  );
  const stage = await buildStage();
  try {
    const [version] = await stage.query<{ server_version: string }>('show server_version');
    console.log(
      `PostgreSQL ${version?.server_version}, ${Object.entries(stage.postgresSettings)
        .map(([name, value]) => `${name}=${value}`)
        .join(' ')}`,
    );
    if (!values.webhooks) {
      await benchCreatePayins(stage, values.quick ? { api: 12, pgbench: 5 } : { api: 30, pgbench: 15 });
      await benchConfirmPayins(stage, values.quick ? QUICK_CONFIRMATIONS : CONFIRMATIONS);
      await benchPayroll(stage, values.quick ? 3000 : 50_000);
    }
    await benchDeliverWebhooks(stage, values.quick ? QUICK_DELIVERIES : DELIVERIES);
    await benchHangingEndpoints(stage, values.quick ? QUICK_HANGING : HANGING);
    if (!values.quick && !values.webhooks) await benchWaitingPayins(stage, 1_000_000);
  } finally {
    await stage.stop();
  }
}

function commit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}
