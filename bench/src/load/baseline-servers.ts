import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';

const BASELINE_SERVER = fileURLToPath(new URL('baseline-server.ts', import.meta.url));

/** Runs one baseline server per core, like the API processes, during a measurement. */
export async function withBaselineServers<T>(measure: (ports: readonly number[]) => Promise<T>): Promise<T> {
  const servers = await Promise.all(
    cpus().map(() => startChild({ name: 'baseline server', args: [BASELINE_SERVER], readiness: 'ipc' })),
  );
  try {
    return await measure(servers.map(({ ready }) => Number(ready['port'])));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
