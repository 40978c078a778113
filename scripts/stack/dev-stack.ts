import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from './child.ts';

/** What `npm run dev` starts, for tests: data and ports of its own. */
export interface DevStack {
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
  /** Where it keeps its data and settings. */
  readonly folder: string;
  stop(): Promise<void>;
}

export async function startDevStack(): Promise<DevStack> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-dev-stack-'));
  // PostgreSQL runs as another user when we are root, and must be able to enter.
  chmodSync(folder, 0o755);
  const script = fileURLToPath(new URL('../dev.ts', import.meta.url));
  const dev = await startChild({
    name: 'npm run dev',
    args: [script, '--json', '--any-ports', '--data', folder],
    readiness: 'line',
    withinMs: 60_000,
  });
  const { baseUrl, simulatorUrl, apiKey } = dev.ready as Record<
    'baseUrl' | 'simulatorUrl' | 'apiKey',
    string
  >;
  return {
    baseUrl,
    simulatorUrl,
    apiKey,
    folder,
    stop: async () => {
      await dev.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
