import { fileURLToPath } from 'node:url';
import { type Child, startChild } from './child.ts';

const SERVER = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url));
const SIMULATOR = fileURLToPath(new URL('../../simulator/src/main.ts', import.meta.url));

export function startServer(
  role: 'api' | 'worker' | 'all',
  settings: Record<string, string>,
  onLine?: (line: string) => void,
): Promise<Child> {
  return startChild({
    name: `server (${role})`,
    args: [SERVER, role],
    env: settings,
    readiness: 'ipc',
    ...(onLine ? { onLine } : {}),
  });
}

/** Runs a command of the server to its end; throws with its output when it fails. */
export async function runServerCommand(
  args: readonly string[],
  settings: Record<string, string>,
): Promise<string> {
  const child = await startChild({
    name: `server ${args.join(' ')}`,
    args: [SERVER, ...args],
    env: settings,
    readiness: 'exit',
  });
  return child.output();
}

export async function startSimulator(dataDir: string, port = 0): Promise<Child & { readonly url: string }> {
  const child = await startChild({
    name: 'simulator',
    args: [SIMULATOR, '--port', String(port), '--data', dataDir],
    readiness: 'line',
  });
  return { ...child, url: String(child.ready['url']) };
}
