/** Starts a three-node PostgreSQL cluster on this machine for tests, and stops it on Ctrl-C or SIGTERM. */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startHaCluster, TEST_TIMES } from './cluster.ts';

const HELP = `node deploy/ha/main.ts [OPTIONS]

Starts three nodes (PostgreSQL 15, Patroni, etcd) and HAProxy on free loopback ports, prints the URL of the primary,
and stops everything on Ctrl-C or SIGTERM. For tests: production values are in deploy/ha/production.

  --dir DIR    run directory, empty or not yet there; it is kept, with the logs. Default: a temporary one
  --ttl S      seconds until a lost primary is replaced (default ${TEST_TIMES.ttl})
  --help       print this text

Debian packages: patroni etcd-server haproxy postgresql-15. As root, everything runs as the user postgres.
`;

const { values } = parseArgs({
  options: { dir: { type: 'string' }, ttl: { type: 'string' }, help: { type: 'boolean', default: false } },
  strict: true,
});

async function main(): Promise<void> {
  if (values.help) return void process.stdout.write(HELP);
  const folder = values.dir ?? mkdtempSync(join(tmpdir(), 'caudal-ha-'));
  if (values.dir !== undefined && !isEmpty(folder)) throw new Error(`${folder} is not empty`);
  const { promise: stopped, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  const cluster = await startHaCluster({ folder, times: { ...TEST_TIMES, ttl: parseTtl() } });
  for (const node of cluster.nodes)
    console.log(
      `${node.name}: ${cluster.nodeUrl(node, 'postgres')}, Patroni ${node.patroniUrl}, logs in ${node.folder}`,
    );
  console.log(`primary through HAProxy: ${cluster.url('postgres')}`);
  console.log('Ctrl-C stops it');
  await stopped;
  await cluster.stop();
  if (values.dir === undefined) rmSync(folder, { recursive: true, force: true });
  console.log('stopped');
}

function parseTtl(): number {
  const ttl = Number(values.ttl ?? TEST_TIMES.ttl);
  const { loopWait, retryTimeout } = TEST_TIMES;
  const least = loopWait + 2 * retryTimeout;
  if (!Number.isInteger(ttl) || ttl < least) throw new Error(`--ttl must be an integer of at least ${least}`);
  return ttl;
}

function isEmpty(folder: string): boolean {
  try {
    return readdirSync(folder).length === 0;
  } catch (error) {
    if ((error as { code?: string }).code === 'ENOENT') return true;
    throw error;
  }
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
});
