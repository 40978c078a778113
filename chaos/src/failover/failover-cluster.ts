import { cpSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type HaCluster, startHaCluster } from '../../../deploy/ha/cluster.ts';
import type { HaNode } from '../../../deploy/ha/node.ts';
import { asAdmin, type Cluster, createMigrated } from '../stack/cluster.ts';
import { createPlaces } from './namespaces.ts';

const DATABASE = 'caudal';
/** Database of the direct writes. Replication and commits are the same for all databases of a cluster. */
export const PROBE_DATABASE = 'probe';
export const PROBE_TABLE = 'direct_writes';
/** In the file system of the namespace. */
const FOLDER = '/dev/shm/caudal-failover';

interface Outage {
  readonly from: Date;
  readonly until: Date;
}

/** A three-node cluster as the database of a stack, which connects through HAProxy. */
export interface FailoverCluster {
  readonly ha: HaCluster;
  readonly stack: Cluster;
  nodeUrl(node: HaNode): string;
  noteOutage(outage: Outage): void;
  /** Copies the logs of the cluster to a folder that outlives the run. */
  keepLogs(): string;
}

export async function startFailoverCluster(): Promise<FailoverCluster> {
  mkdirSync(FOLDER);
  const ha = await startHaCluster({ folder: join(FOLDER, 'run'), places: createPlaces(FOLDER) });
  const url = (database: string) => ha.url(database);
  await asAdmin(url, `create database ${PROBE_DATABASE}`);
  await asAdmin(
    url,
    `create table ${PROBE_TABLE} (id bigint generated always as identity primary key, node text not null)`,
    PROBE_DATABASE,
  );
  const watchers = new Set<(outage: Outage) => void>();
  const stack: Cluster = {
    url,
    clone: async () => {
      await createMigrated(url, DATABASE);
      return DATABASE;
    },
    drop: () => Promise.resolve(),
    crash: () => Promise.reject(new Error('a fault of the cluster takes its place')),
    signal: () => {
      throw new Error('a fault of the cluster takes its place');
    },
    watchCrashes: (watch) => {
      watchers.add(watch);
      return () => watchers.delete(watch);
    },
    // The folder ends with the namespace.
    stop: () => ha.stop(),
  };
  return {
    ha,
    stack,
    nodeUrl: (node) => ha.nodeUrl(node, DATABASE),
    noteOutage: (outage) => {
      for (const watch of watchers) watch(outage);
    },
    keepLogs: () => keepLogs(ha),
  };
}

function keepLogs(ha: HaCluster): string {
  const kept = mkdtempSync(join(tmpdir(), 'caudal-failover-logs-'));
  for (const { name, folder } of ha.nodes)
    for (const log of ['patroni.log', 'etcd.log']) cpSync(join(folder, log), join(kept, `${name}-${log}`));
  return kept;
}
