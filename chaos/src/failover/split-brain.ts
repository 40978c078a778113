import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { HaCluster } from '../../../deploy/ha/cluster.ts';
import type { HaNode } from '../../../deploy/ha/node.ts';
import type { DirectWrite } from './direct-writer.ts';
import { PROBE_DATABASE, PROBE_TABLE } from './failover-cluster.ts';

const WRITER = fileURLToPath(new URL('direct-writer.ts', import.meta.url));

/** Writes to an old primary, bypassing HAProxy, from its own side of the network. */
export async function writeDirectly(cluster: HaCluster, node: HaNode, ms: number): Promise<DirectWrite[]> {
  const options = {
    url: cluster.nodeUrl(node, PROBE_DATABASE),
    table: PROBE_TABLE,
    node: node.name,
    ms: String(ms),
  };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value]);
  const child = spawn('nsenter', [`--net=${node.network}`, process.execPath, WRITER, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const writes: DirectWrite[] = [];
  for await (const line of createInterface({ input: child.stdout }))
    writes.push(JSON.parse(line) as DirectWrite);
  return writes;
}
