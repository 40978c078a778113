import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PATIENT_SETTINGS } from '../testing/patient-settings.ts';
import { startChild } from './child.ts';

/** A stack started by `npm run dev` for tests, with its own data directory and ports. */
export interface DevStack {
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
  /** Directory of its data and settings. */
  readonly folder: string;
  stop(): Promise<void>;
}

export async function startDevStack(): Promise<DevStack> {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-dev-stack-'));
  // When this runs as root, PostgreSQL runs as another user and needs access.
  chmodSync(folder, 0o755);
  const script = fileURLToPath(new URL('../dev.ts', import.meta.url));
  const dev = await startChild({
    name: 'npm run dev',
    args: [script, '--json', '--any-ports', '--data', folder],
    env: PATIENT_SETTINGS,
    readiness: 'line',
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
