import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import {
  type DevStack as RunningStack,
  startDevStack as startStack,
} from '../../../scripts/stack/dev-stack.ts';
import { freePort } from '../../../scripts/stack/free-port.ts';

/** The running stack that the pages assume. */
export interface DevStack extends RunningStack {
  /** Port of the webhook receiver, 3000 in the pages. */
  readonly receiverPort: number;
  /** Settings of the server. */
  readonly settings: Readonly<Record<string, string | undefined>>;
}

export async function startDevStack(): Promise<DevStack> {
  const running = await startStack();
  const settings = parseEnv(readFileSync(join(running.folder, 'server.env'), 'utf8'));
  return { ...running, settings, receiverPort: await freePort() };
}
