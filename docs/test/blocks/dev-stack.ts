import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { type DevStack as Running, startDevStack as startRunning } from '../../../scripts/stack/dev-stack.ts';
import { freePort } from '../../../scripts/stack/postgres.ts';

/** What the pages take for running. */
export interface DevStack extends Running {
  /** For a receiver of webhooks: what the pages call 3000. */
  readonly receiverPort: number;
  /** What the server was started with. */
  readonly settings: Readonly<Record<string, string | undefined>>;
}

export async function startDevStack(): Promise<DevStack> {
  const running = await startRunning();
  const settings = parseEnv(readFileSync(join(running.folder, 'server.env'), 'utf8'));
  return { ...running, settings, receiverPort: await freePort() };
}
