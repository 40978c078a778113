import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What `caudal dev` says of the stack it runs. */
export interface DevStack {
  readonly file: string;
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
  readonly settingsFile: string;
}

const PLACE = join('.data', 'dev');

/** The clone that this program is part of, if it is. */
export function cloneFolder(): string | null {
  const folder = fileURLToPath(new URL('../..', import.meta.url));
  return existsSync(join(folder, 'scripts', 'dev.ts')) ? folder : null;
}

/** The stack of the folder we are in, of one above it, or of the clone we are part of; null when none is up. */
export function findDevStack(from: string): DevStack | null {
  const clone = cloneFolder();
  for (const folder of [...upwards(from), ...(clone === null ? [] : [clone])]) {
    const stack = readStack(join(folder, PLACE));
    if (stack) return stack;
  }
  return null;
}

function* upwards(from: string): Generator<string> {
  for (let folder = from; ; folder = dirname(folder)) {
    yield folder;
    if (dirname(folder) === folder) return;
  }
}

function readStack(folder: string): DevStack | null {
  const file = join(folder, 'stack.json');
  if (!existsSync(file)) return null;
  try {
    const { baseUrl, simulatorUrl, apiKey, pid } = JSON.parse(readFileSync(file, 'utf8')) as Partial<
      Record<string, unknown>
    >;
    if (typeof baseUrl !== 'string' || typeof simulatorUrl !== 'string' || typeof apiKey !== 'string')
      return null;
    // Left behind by a stack that was killed: its addresses may be somebody else's by now.
    if (typeof pid === 'number' && !isAlive(pid)) return null;
    return { file, baseUrl, simulatorUrl, apiKey, settingsFile: join(folder, 'server.env') };
  } catch {
    return null;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
