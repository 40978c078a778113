import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { SchemaRange } from '../../src/db/schema-range.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

export interface ServerCopy {
  /** Entry point of the copy, for `runToEnd`. */
  readonly main: string;
  /** Writes a file into the copy's migrations, replacing one with the same name. */
  writeMigration(name: string, text: string): void;
  setSchemaRange(range: SchemaRange): void;
  remove(): void;
}

/** A copy of the server that simulates another version: the same code with other migrations. */
export function copyServer(): ServerCopy {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-copy-'));
  const server = join(folder, 'server');
  for (const part of ['src', 'migrations', 'package.json'])
    cpSync(join(ROOT, 'server', part), join(server, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  return {
    main: join(server, 'src', 'main.ts'),
    writeMigration: (name, text) => writeFileSync(join(server, 'migrations', name), text),
    setSchemaRange: (range) => {
      const file = join(server, 'src', 'db', 'schema-range.ts');
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace(/(?<=SCHEMA_RANGE: SchemaRange = )\{.*\}/, JSON.stringify(range)));
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
