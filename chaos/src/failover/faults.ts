import { execFileSync } from 'node:child_process';
import { rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import type { HaCluster } from '../../../deploy/ha/cluster.ts';
import type { HaNode } from '../../../deploy/ha/node.ts';
import { signal } from '../../../deploy/ha/process.ts';
import type { DirectWrite } from './direct-writer.ts';
import { isolate, reconnect } from './namespaces.ts';
import { writeDirectly } from './split-brain.ts';

/** What a fault may use. */
interface FaultContext {
  readonly cluster: HaCluster;
  /** The primary before the fault. */
  readonly primary: HaNode;
  /** Resolves when another node leads and a write that started after this call is acknowledged. */
  readonly failedOver: () => Promise<void>;
  /** The same, when the old primary may have been promoted again. */
  readonly promoted: () => Promise<void>;
  /** Reports writes to the old primary that began when another node could lead: none may be acknowledged. */
  readonly report: (writes: readonly DirectWrite[]) => void;
}

export interface ClusterFault {
  /** As in the table of the docs. */
  readonly title: string;
  /** Whether a node must have been promoted afterwards. */
  readonly movesPrimary: boolean;
  /** Any node may lead afterwards. */
  readonly anyLeader?: boolean;
  /** Injects the fault, and removes it after the failover. */
  readonly run: (context: FaultContext) => Promise<void>;
}

/** How long an old primary is written to after it could have lost its role. */
const DIRECT_WRITES_MS = 5000;

async function killMachine({ primary, failedOver }: FaultContext): Promise<void> {
  // Stopped first, so that no process can react to the death of another one.
  const pids = [...primary.patroniPids(), ...primary.postgresPids()];
  for (const name of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) signal(pid, name);
  await failedOver();
  primary.startPatroni();
}

/** Patroni restarts PostgreSQL as a standby at once, which can win the election against the other nodes. */
async function killPostgres({ primary, promoted }: FaultContext): Promise<void> {
  const pids = primary.postgresPids();
  for (const name of ['SIGSTOP', 'SIGKILL'] as const) for (const pid of pids) signal(pid, name);
  await promoted();
}

/** PostgreSQL continues without Patroni and does not know that another node leads. */
async function killPatroni({ cluster, primary, failedOver, report }: FaultContext): Promise<void> {
  for (const pid of primary.patroniPids()) signal(pid, 'SIGKILL');
  await failedOver();
  report(await writeDirectly(cluster, primary, DIRECT_WRITES_MS));
  primary.startPatroni();
}

/** A machine that pauses, for example in a live migration, and continues after its role has passed to another one. */
async function freeze({ cluster, primary, failedOver, report }: FaultContext): Promise<void> {
  const pids = [...primary.patroniPids(), ...primary.postgresPids()];
  for (const pid of pids) signal(pid, 'SIGSTOP');
  await Promise.all([failedOver(), sleep((cluster.times.ttl + 3) * 1000)]);
  const writes = writeDirectly(cluster, primary, DIRECT_WRITES_MS);
  for (const pid of pids) signal(pid, 'SIGCONT');
  report(await writes);
}

/** The primary can reach no other machine, and no other machine can reach it. */
async function partition({ cluster, primary, failedOver, report }: FaultContext): Promise<void> {
  isolate(primary);
  try {
    const heldMs = (cluster.times.ttl + 4) * 1000;
    const [, writes] = await Promise.all([failedOver(), writeDirectly(cluster, primary, heldMs)]);
    report(writes);
  } finally {
    reconnect(primary);
  }
}

/**
 * With failsafe mode the primary stays, as long as it reaches all members. The members are frozen, not killed: through the v2
 * API a restarted member returns old values until it has read its log, and a primary that reads an old leader key demotes
 * itself for some seconds.
 */
async function loseEtcd({ cluster }: FaultContext): Promise<void> {
  const pids = cluster.nodes.flatMap((node) => node.etcdPids());
  for (const pid of pids) signal(pid, 'SIGSTOP');
  await sleep((cluster.times.ttl + 5) * 1000);
  for (const pid of pids) signal(pid, 'SIGCONT');
}

/** PostgreSQL stops when it cannot write its WAL. */
async function fillDisk({ cluster, primary, failedOver }: FaultContext): Promise<void> {
  const folder = primary.walFolder ?? '';
  const ballast = join(folder, 'ballast');
  try {
    const { bavail, bsize } = statfsSync(folder);
    execFileSync('fallocate', ['--length', String(bavail * bsize), ballast]);
    await writeWalUntilFull(cluster.nodeUrl(primary, 'postgres'));
    await failedOver();
  } finally {
    rmSync(ballast, { force: true });
  }
}

/** Uses up the segments that PostgreSQL has prepared. Writes no rows, and waits for no standby. */
async function writeWalUntilFull(url: string): Promise<void> {
  const client = new Client({ connectionString: url, query_timeout: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('set synchronous_commit = off');
    for (let megabytes = 0; megabytes < 2000; megabytes += 1)
      await client.query(`select pg_logical_emit_message(true, 'fill', repeat('x', 1000000))`);
  } catch {
    return;
  } finally {
    void client.end().catch(() => undefined);
  }
  throw new Error('the file system of the WAL did not become full');
}

async function switchOver({ primary, failedOver }: FaultContext): Promise<void> {
  const response = await fetch(`${primary.patroniUrl}/switchover`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ leader: primary.name }),
    signal: AbortSignal.timeout(30_000),
  });
  if (!response.ok) throw new Error(`switchover: ${response.status} ${await response.text()}`);
  await failedOver();
}

export const FAULTS = {
  machine: { title: 'kill -9 of Patroni and PostgreSQL', movesPrimary: true, run: killMachine },
  postgres: {
    title: 'kill -9 of PostgreSQL only',
    movesPrimary: true,
    anyLeader: true,
    run: killPostgres,
  },
  patroni: { title: 'kill -9 of Patroni only', movesPrimary: true, run: killPatroni },
  freeze: { title: 'frozen primary that wakes', movesPrimary: true, run: freeze },
  partition: { title: 'network partition of the primary', movesPrimary: true, run: partition },
  disk: { title: 'full disk (WAL)', movesPrimary: true, run: fillDisk },
  switchover: { title: 'planned switchover', movesPrimary: true, run: switchOver },
  etcd: { title: 'etcd lost (no failover)', movesPrimary: false, run: loseEtcd },
} as const satisfies Readonly<Record<string, ClusterFault>>;

export type FaultName = keyof typeof FAULTS;
