import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Connection data that `caudal dev` writes for its stack. */
export interface DevStack {
  readonly file: string;
  readonly baseUrl: string;
  readonly simulatorUrl: string;
  readonly apiKey: string;
  readonly settingsFile: string;
}

const STACK_FOLDER = join('.data', 'dev');

/** The repository clone that contains this program; null when installed elsewhere. */
export function cloneFolder(): string | null {
  const folder = fileURLToPath(new URL('../../..', import.meta.url));
  return existsSync(join(folder, 'scripts', 'dev.ts')) ? folder : null;
}

/** The running stack of this folder, a parent folder or the clone; null when none runs. */
export function findDevStack(from: string): DevStack | null {
  const clone = cloneFolder();
  for (const folder of [...parentFolders(from), ...(clone === null ? [] : [clone])]) {
    const stack = readStack(join(folder, STACK_FOLDER));
    if (stack) return stack;
  }
  return null;
}

function* parentFolders(from: string): Generator<string> {
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
    // A killed stack leaves this file behind: another program may use its ports now.
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
