import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { freePort } from '../../scripts/stack/free-port.ts';
import { type DatabaseUser, databaseUser } from '../../scripts/stack/postgres.ts';
import {
  type FailoverTimes,
  haproxyConfiguration,
  type NodeAddresses,
  POSTGRES_BIN,
  SUPERUSER,
} from './configuration.ts';
import { HaNode, makeFolder } from './node.ts';
import { launch, signal, waitUntilGone } from './process.ts';
import { findLeader, findTimeline, isAgreed, type Member, readLeaderKey, readMembers } from './status.ts';

/** Shorter than in production, so that a hundred failovers take half an hour: docs/operating/failover.md. */
export const TEST_TIMES: FailoverTimes = { ttl: 8, loopWait: 2, retryTimeout: 3 };

const NODE_NAMES = ['n1', 'n2', 'n3'] as const;
/** Patroni has tried to start PostgreSQL, and to rewind it, several times. */
const REINITIALIZE_AFTER_MS = 30_000;
const START_WITHIN_MS = 90_000;
const PACKAGES: Readonly<Record<string, string>> = {
  '/usr/bin/patroni': 'patroni',
  '/usr/bin/etcd': 'etcd-server',
  '/usr/sbin/haproxy': 'haproxy',
  [`${POSTGRES_BIN}/postgres`]: 'postgresql-15',
};

/** Where a node runs; by default on loopback. */
export interface NodePlace {
  readonly host: string;
  /** File of its network namespace. */
  readonly network: string;
  /** A folder on a file system of its own. */
  readonly walFolder: string;
}

export interface HaOptions {
  /** An empty folder. */
  readonly folder: string;
  readonly times?: FailoverTimes;
  /** One per node. */
  readonly places?: readonly NodePlace[];
}

/** Three nodes with PostgreSQL, Patroni and etcd, and HAProxy, which connects to the primary. */
export interface HaCluster {
  readonly nodes: readonly HaNode[];
  readonly times: FailoverTimes;
  /** URL through HAProxy, as the superuser. */
  url(database: string): string;
  /** URL of one node, whether it is the primary or not. */
  nodeUrl(node: HaNode, database: string): string;
  /** The node that leads according to the first of these nodes that names one; by default any node. */
  leader(accordingTo?: readonly HaNode[]): Promise<HaNode | null>;
  /** The newest timeline on which a node leads. Each promotion begins a new one. */
  timeline(): Promise<number>;
  /**
   * Waits until all nodes see three members, one of them a synchronous standby, every member of etcd names their leader, and
   * HAProxy reaches the primary. A node on which PostgreSQL does not start is reinitialized meanwhile.
   */
  waitUntilHealthy(withinMs: number): Promise<void>;
  /** Names of the nodes that got a new copy of the database, because PostgreSQL did not start on their own. */
  readonly reinitialized: readonly string[];
  stop(): Promise<void>;
}

export async function startHaCluster(options: HaOptions): Promise<HaCluster> {
  const missing = Object.keys(PACKAGES).filter((path) => !existsSync(path));
  if (missing.length > 0)
    throw new Error(`install the Debian packages ${missing.map((path) => PACKAGES[path]).join(' ')} first`);
  const user = databaseUser();
  makeFolder(options.folder, user);
  const port = await freePort();
  const nodes = await makeNodes(options, user);
  const running = new RunningCluster(nodes, port, options.times ?? TEST_TIMES);
  try {
    await running.start(options.folder, user);
    return running;
  } catch (error) {
    await running.stop();
    throw error;
  }
}

async function makeNodes({ folder, times, places }: HaOptions, user: DatabaseUser): Promise<HaNode[]> {
  const [superuser, replication, rewind] = Array.from({ length: 3 }, () => randomBytes(12).toString('hex'));
  const passwords = { superuser: superuser ?? '', replication: replication ?? '', rewind: rewind ?? '' };
  const all: NodeAddresses[] = [];
  for (const [index, name] of NODE_NAMES.entries()) {
    const ports = [await freePort(), await freePort(), await freePort(), await freePort()];
    const [postgresPort = 0, patroniPort = 0, etcdPort = 0, etcdPeerPort = 0] = ports;
    const host = places?.[index]?.host ?? '127.0.0.1';
    all.push({ name, host, postgresPort, patroniPort, etcdPort, etcdPeerPort });
  }
  return all.map(
    (addresses, index) =>
      new HaNode({
        addresses,
        all,
        folder: join(folder, addresses.name),
        user,
        passwords,
        times: times ?? TEST_TIMES,
        network: places?.[index]?.network ?? null,
        walFolder: places?.[index]?.walFolder ?? null,
      }),
  );
}

class RunningCluster implements HaCluster {
  readonly nodes: readonly HaNode[];
  readonly times: FailoverTimes;
  readonly reinitialized: string[] = [];
  readonly #port: number;
  #haproxy: ChildProcess | null = null;

  constructor(nodes: readonly HaNode[], port: number, times: FailoverTimes) {
    this.nodes = nodes;
    this.times = times;
    this.#port = port;
  }

  /** Starts one node first, which makes it the primary. */
  async start(folder: string, user: DatabaseUser): Promise<void> {
    const deadline = performance.now() + START_WITHIN_MS;
    for (const node of this.nodes) node.startEtcd();
    for (const node of this.nodes) await waitFor(deadline, 'etcd', () => isEtcdHealthy(node));
    const [first, ...others] = this.nodes;
    first?.startPatroni();
    await waitFor(deadline, 'the first primary', () => isPrimary(first?.patroniUrl ?? ''));
    for (const node of others) node.startPatroni();
    this.#startHaproxy(folder, user);
    await this.waitUntilHealthy(deadline - performance.now());
  }

  url(database: string): string {
    return this.#url('127.0.0.1', this.#port, database);
  }

  nodeUrl({ addresses }: HaNode, database: string): string {
    return this.#url(addresses.host, addresses.postgresPort, database);
  }

  async leader(accordingTo = this.nodes): Promise<HaNode | null> {
    const views = await this.#views(accordingTo);
    const name = views.map(findLeader).find((leader) => leader !== null);
    return this.nodes.find((node) => node.name === name) ?? null;
  }

  async timeline(): Promise<number> {
    return Math.max(...(await this.#views()).map(findTimeline));
  }

  async waitUntilHealthy(withinMs: number): Promise<void> {
    const deadline = performance.now() + withinMs;
    const failedSince = new Map<HaNode, number>();
    const check = async () => {
      const views = await this.#views();
      await this.#reinitializeFailed(views.flat(), failedSince);
      return isAgreed(views) && (await this.#etcdNames(findLeader(views[0] ?? []))) && this.#isWritable();
    };
    await waitFor(deadline, 'a healthy cluster', check, async () => JSON.stringify(await this.#views()));
  }

  /** As an operator does with `patronictl reinit`: Patroni 3.0.2 cannot rewind every node that stopped during its recovery. */
  async #reinitializeFailed(members: readonly Member[], failedSince: Map<HaNode, number>): Promise<void> {
    for (const node of this.nodes) {
      if (!isDown(members, node.name)) {
        failedSince.delete(node);
        continue;
      }
      const since = failedSince.get(node) ?? performance.now();
      failedSince.set(node, since);
      if (performance.now() - since < REINITIALIZE_AFTER_MS) continue;
      failedSince.delete(node);
      const response = await fetch(`${node.patroniUrl}/reinitialize`, {
        method: 'POST',
        body: JSON.stringify({ force: true }),
        signal: AbortSignal.timeout(5000),
      });
      if (response.ok) this.reinitialized.push(node.name);
    }
  }

  async stop(): Promise<void> {
    const haproxy = this.#haproxy?.pid === undefined ? [] : [this.#haproxy.pid];
    for (const pid of haproxy) signal(pid, 'SIGTERM');
    await waitUntilGone(haproxy);
    await Promise.all(this.nodes.map((node) => node.stop()));
  }

  #views(nodes = this.nodes) {
    return Promise.all(nodes.map(({ patroniUrl }) => readMembers(patroniUrl)));
  }

  /**
   * Whether every member of etcd names this leader. A member that was cut off returns the old leader for some seconds, and the
   * nodes do not notice while they read from the others.
   */
  async #etcdNames(leader: string | null): Promise<boolean> {
    const named = await Promise.all(this.nodes.map(({ etcdUrl }) => readLeaderKey(etcdUrl)));
    return named.every((name) => name === leader);
  }

  #startHaproxy(folder: string, user: DatabaseUser): void {
    const address = { host: '127.0.0.1', port: this.#port };
    const configuration = haproxyConfiguration(
      address,
      this.nodes.map(({ addresses }) => addresses),
    );
    const file = join(folder, 'haproxy.cfg');
    writeFileSync(file, configuration);
    const log = join(folder, 'haproxy.log');
    const command = { command: '/usr/sbin/haproxy', args: ['-db', '-f', file] };
    this.#haproxy = launch({ ...command, log, home: folder, user, network: null });
  }

  /** Patroni reports a primary before it is promoted, and HAProxy may still connect to a standby. */
  async #isWritable(): Promise<boolean> {
    const client = new Client({
      connectionString: this.url('postgres'),
      connectionTimeoutMillis: 2000,
      query_timeout: 2000,
    });
    client.on('error', () => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ writable: boolean }>(
        'select not pg_is_in_recovery() as writable',
      );
      return rows[0]?.writable ?? false;
    } finally {
      void client.end().catch(() => undefined);
    }
  }

  #url(host: string, port: number, database: string): string {
    return `postgres://${SUPERUSER}:${this.nodes[0]?.superuserPassword ?? ''}@${host}:${port}/${database}`;
  }
}

/** While Patroni retries, the state of a node alternates between `starting`, `start failed` and others. */
const WORKING_STATES = new Set(['running', 'streaming', 'creating replica']);

function isDown(members: readonly Member[], node: string): boolean {
  return members.some(({ name, state }) => name === node && !WORKING_STATES.has(state));
}

async function isEtcdHealthy({ etcdUrl }: HaNode): Promise<boolean> {
  const response = await fetch(`${etcdUrl}/health`, { signal: AbortSignal.timeout(1000) });
  return ((await response.json()) as { readonly health?: string }).health === 'true';
}

async function isPrimary(patroniUrl: string): Promise<boolean> {
  return (await fetch(`${patroniUrl}/primary`, { signal: AbortSignal.timeout(1000) })).ok;
}

async function waitFor(
  deadline: number,
  what: string,
  check: () => Promise<boolean>,
  describe?: () => Promise<string>,
): Promise<void> {
  while (!(await check().catch(() => false))) {
    if (performance.now() > deadline) {
      const found = (await describe?.().catch(String)) ?? '';
      throw new Error(`waited in vain for ${what}. ${found}`);
    }
    await sleep(100);
  }
}
