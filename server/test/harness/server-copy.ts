import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface ServerCopy {
  /** The entry of the copy; `runToEnd` takes it. */
  readonly main: string;
  /** Puts a file among the copy's migrations, in place of the one of that name. */
  writeMigration(name: string, text: string): void;
  remove(): void;
}

/** The server as another version of it would be: the same code with other migrations. */
export function copyServer(): ServerCopy {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-copy-'));
  const server = join(folder, 'server');
  for (const part of ['src', 'migrations', 'package.json'])
    cpSync(join(ROOT, 'server', part), join(server, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    main: join(server, 'src', 'main.ts'),
    writeMigration: (name, text) => writeFileSync(join(server, 'migrations', name), text),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
