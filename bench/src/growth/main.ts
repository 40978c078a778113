/** Runs only the growth benches: node bench/src/growth/main.ts --rows 10000000 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { startPostgres } from '../../../scripts/stack/postgres.ts';
import { startSimulator } from '../../../scripts/stack/processes.ts';
import { serverSettings } from '../../../scripts/stack/settings.ts';
import { POSTGRES_SETTINGS } from '../stage/stage.ts';
import { benchGrowth, GROWTH_PARTS, type GrowthPart } from './growth.ts';

const HELP = `node bench/src/growth/main.ts [OPTIONS]

  --rows N         payins in the large database (10000000)
  --only PARTS     some of ${GROWTH_PARTS.join(', ')}; default: all
  --minutes N      duration of churn (60)
  --brief          a short trial in seconds, with too few samples for conclusions
  --data FOLDER    keep the databases in FOLDER and reuse existing ones; an interrupted load continues with its next month
  --help           show this help
`;

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000000' },
    only: { type: 'string', default: GROWTH_PARTS.join(',') },
    minutes: { type: 'string', default: '60' },
    data: { type: 'string' },
    brief: { type: 'boolean', default: false },
    help: { type: 'boolean' },
  },
  strict: true,
});
if (values.help) process.stdout.write(HELP);
else await run();

async function run(): Promise<void> {
  const folder = values.data ?? mkdtempSync(join(tmpdir(), 'caudal-growth-'));
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const cluster = await startPostgres({ dataDir: join(folder, 'pg'), settings: POSTGRES_SETTINGS });
  const simulator = await startSimulator(join(folder, 'simulator'));
  const port = await freePort();
  const settings = serverSettings({
    databaseUrl: cluster.url('postgres'),
    simulatorUrl: simulator.url,
    baseUrl: `http://127.0.0.1:${port}`,
    port,
  });
  try {
    await benchGrowth(
      { databaseUrl: cluster.url('postgres'), settings, simulatorUrl: simulator.url },
      {
        rows: Number(values.rows),
        churnMinutes: Number(values.minutes),
        brief: values.brief,
        keep: values.data !== undefined,
        only: values.only.split(',').map((name) => parsePart(name)),
      },
    );
  } finally {
    await simulator.stop();
    await cluster.stop();
    if (values.data === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

function parsePart(name: string): GrowthPart {
  const part = GROWTH_PARTS.find((each) => each === name.trim());
  if (!part) throw new Error(`--only: "${name}" is not one of ${GROWTH_PARTS.join(', ')}`);
  return part;
}
