import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import type { NodePlace } from '../../../deploy/ha/cluster.ts';
import type { HaNode } from '../../../deploy/ha/node.ts';

const INSIDE = 'CAUDAL_FAILOVER_NAMESPACES';
/** A network that exists only inside the namespace. */
const NETWORK = '10.99.0';
const NODES = 3;
/**
 * Several times the WAL that a node keeps; small enough to fill in a moment. Each failover adds segments of a new timeline,
 * and rewound nodes copy those of others: after 30 failovers, 640 MB were full on a node whose disk was not to be filled.
 */
const WAL_FILE_SYSTEM = 'size=1536m,mode=0755';

/** The shell collects orphaned processes: Patroni takes a zombie for a running PostgreSQL. */
const INIT = `
mount -t tmpfs tmpfs /dev/shm && mkdir -p /run/netns && mount -t tmpfs tmpfs /run/netns && ip link set lo up || exit 1
"$@" &
wait $!`;

export function isInsideNamespaces(): boolean {
  return process.env[INSIDE] === 'yes';
}

/**
 * Runs this program again in namespaces of its own: networks that can be cut, file systems that can be filled. Processes,
 * shared memory, mounts and networks end with it, however it ends.
 * @returns its exit code
 */
export function runInsideNamespaces(): Promise<number> {
  if (process.getuid?.() !== 0)
    throw new Error('the failover test creates network namespaces and must run as root');
  const kinds = ['--net', '--mount', '--pid', '--ipc', '--fork', '--kill-child', '--mount-proc'];
  const command = ['unshare', ...kinds, 'sh', '-c', INIT, 'sh', process.execPath, ...process.argv.slice(1)];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...command], {
    env: { ...process.env, [INSIDE]: 'yes' },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(signal, () => child.kill('SIGKILL'));
  const { promise, resolve } = Promise.withResolvers<number>();
  child.once('exit', (code) => resolve(code ?? 1));
  return promise;
}

/** Creates one network per node, joined by a bridge, and a file system per node for its WAL. */
export function createPlaces(folder: string): NodePlace[] {
  ip('link', 'add', 'br0', 'type', 'bridge');
  ip('addr', 'add', `${NETWORK}.1/24`, 'dev', 'br0');
  ip('link', 'set', 'br0', 'up');
  return Array.from({ length: NODES }, (_, index) => {
    const name = `n${index + 1}`;
    const host = `${NETWORK}.${11 + index}`;
    ip('netns', 'add', name);
    ip('link', 'add', cable(name), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
    ip('link', 'set', cable(name), 'master', 'br0', 'up');
    ip('-n', name, 'addr', 'add', `${host}/24`, 'dev', 'eth0');
    for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up');
    const walFolder = `${folder}/wal-${name}`;
    mkdirSync(walFolder);
    execFileSync('mount', ['-t', 'tmpfs', '-o', WAL_FILE_SYSTEM, 'tmpfs', walFolder]);
    return { host, network: `/run/netns/${name}`, walFolder };
  });
}

/** Packets are dropped in both directions; connections stay open without an error. */
export function isolate(node: HaNode): void {
  ip('link', 'set', cable(node.name), 'down');
}

export function reconnect(node: HaNode): void {
  ip('link', 'set', cable(node.name), 'up');
}

function cable(node: string): string {
  return `to-${node}`;
}

function ip(...args: string[]): void {
  execFileSync('ip', args);
}
