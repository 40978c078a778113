import { fileURLToPath } from 'node:url';
import { type Child, startChild } from './child.ts';

const SERVER = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url));
const SIMULATOR = fileURLToPath(new URL('../../simulator/src/main.ts', import.meta.url));

/** @param entry `src/main.ts` of another copy of the server; default: this repository */
export function startServer(
  role: 'api' | 'worker' | 'all',
  settings: Record<string, string>,
  onLine?: (line: string) => void,
  entry = SERVER,
): Promise<Child> {
  return startChild({
    name: `server (${role})`,
    args: [entry, role],
    env: settings,
    readiness: 'ipc',
    ...(onLine ? { onLine } : {}),
  });
}

/** Runs a server command until it exits; throws with its output when it fails. */
export async function runServerCommand(
  args: readonly string[],
  settings: Record<string, string>,
  entry = SERVER,
): Promise<string> {
  const child = await startChild({
    name: `server ${args.join(' ')}`,
    args: [entry, ...args],
    env: settings,
    readiness: 'exit',
  });
  return child.output();
}

/** @param noticeUrls where it sends payment notices; without any, notices wait until the control API sets the URLs */
export async function startSimulator(
  dataDir: string,
  port = 0,
  noticeUrls: readonly string[] = [],
): Promise<Child & { readonly url: string }> {
  const child = await startChild({
    name: 'simulator',
    args: [
      SIMULATOR,
      '--port',
      String(port),
      '--data',
      dataDir,
      ...(noticeUrls.length > 0 ? ['--notices', noticeUrls.join(',')] : []),
    ],
    readiness: 'line',
  });
  return { ...child, url: String(child.ready['url']) };
}
