import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';

const BARE_SERVER = fileURLToPath(new URL('baseline-server.ts', import.meta.url));

/** One for each core, as there are API processes, while something is measured. */
export async function besideBareServers<T>(measure: (ports: readonly number[]) => Promise<T>): Promise<T> {
  const servers = await Promise.all(
    cpus().map(() => startChild({ name: 'bare server', args: [BARE_SERVER], readiness: 'ipc' })),
  );
  try {
    return await measure(servers.map(({ ready }) => Number(ready['port'])));
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}
