import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The first release that can be rolled back to is the commit that added this file. */
const RANGE_FILE = 'server/src/db/schema-range.ts';

/** A release of the server in a folder. */
export interface Release {
  readonly name: string;
  /** Folder with `src/main.ts` and `migrations`. */
  readonly server: string;
  readonly migrations: readonly string[];
  remove(): void;
}

/** @returns the commit that brought the schema ranges. @throws in a clone without its history */
export function firstRangedCommit(): string {
  const log = git('log', '--diff-filter=A', '--format=%H', '--', RANGE_FILE).trim().split('\n');
  const commit = log.at(-1) ?? '';
  if (commit === '') throw new Error(`no commit adds ${RANGE_FILE}: fetch the whole history, or use --from`);
  return commit;
}

/** The server of a commit, with the installed dependencies of this clone. */
export function releaseOf(commit: string): Release {
  const folder = mkdtempSync(join(tmpdir(), 'caudal-release-'));
  const archive = execFileSync('git', ['archive', '--format=tar', commit], {
    cwd: ROOT,
    maxBuffer: 1024 ** 3,
  });
  execFileSync('tar', ['-x', '-C', folder], { input: archive });
  linkDependencies(folder);
  return release(git('rev-parse', '--short', commit).trim(), folder);
}

/** The server of this clone. Without a migration that the other release lacks, one is added to a copy. */
export function currentRelease(previous: Release): Release {
  const server = join(ROOT, 'server');
  const migrations = listMigrations(server);
  return migrations.some((name) => !previous.migrations.includes(name))
    ? { name: 'this clone', server, migrations, remove: () => undefined }
    : plantedRelease();
}

/** A copy of the server of this clone with one more migration, which changes large tables in every allowed way. */
export function plantedRelease(): Release {
  const server = join(ROOT, 'server');
  const folder = mkdtempSync(join(tmpdir(), 'caudal-release-'));
  for (const part of ['src', 'migrations', 'package.json'])
    cpSync(join(server, part), join(folder, 'server', part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  plant(join(folder, 'server'), listMigrations(server));
  return release('this clone with a planted migration', folder);
}

const PLANTED = `-- schema: expand
-- step
alter table caudal.payins add column planted text;
-- step
alter table caudal.payouts add column planted text default 'planted';
-- step
create table caudal_meta.planted (id uuid primary key);
-- step
alter table caudal.payins add constraint payin_planted check (length(planted) < 100) not valid;
-- step
alter table caudal.payins validate constraint payin_planted;
-- step: index
create index payins_planted on caudal.payins (organization_id, reference);
`;

function plant(server: string, migrations: readonly string[]): void {
  const number = Number((migrations.at(-1) ?? '').slice(0, 4)) + 1;
  const file = join(server, 'migrations', `${String(number).padStart(4, '0')}_planted.sql`);
  writeFileSync(file, PLANTED);
  const range = join(server, 'src', 'db', 'schema-range.ts');
  const text = readFileSync(range, 'utf8');
  writeFileSync(
    range,
    text.replace(/(?<=SCHEMA_RANGE: SchemaRange = )\{.*\}/, `{ oldest: ${number}, newest: ${number} }`),
  );
}

function release(name: string, folder: string): Release {
  const server = join(folder, 'server');
  return {
    name,
    server,
    migrations: listMigrations(server),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function listMigrations(server: string): string[] {
  return readdirSync(join(server, 'migrations'))
    .filter((name) => name.endsWith('.sql'))
    .sort();
}

/** Links each dependency; the workspaces of the release are its own. */
function linkDependencies(folder: string): void {
  const installed = join(ROOT, 'node_modules');
  const target = join(folder, 'node_modules');
  mkdirSync(join(target, '@caudal'), { recursive: true });
  for (const name of readdirSync(installed))
    if (name !== '@caudal') symlinkSync(join(installed, name), join(target, name));
  for (const name of readdirSync(join(installed, '@caudal'))) {
    if (!existsSync(join(folder, name))) continue;
    symlinkSync(join(folder, name), join(target, '@caudal', name));
    // Versions that differ from those of the root.
    const own = join(ROOT, name, 'node_modules');
    if (existsSync(own)) symlinkSync(own, join(folder, name, 'node_modules'));
  }
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
}
