import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { checkRole } from './role-environment.ts';

const UNITS = fileURLToPath(new URL('../systemd', import.meta.url));
const INSTANCES = ['api', 'worker', 'migrate'] as const;

/** In tenths, as systemd-analyze takes it. The units have 1.3; 10 is a unit without hardening. */
const MAX_EXPOSURE = 13;

/** A root folder with our units and those of Debian that they name. */
function makeRoot(folder: string): string {
  const root = join(folder, 'systemd');
  cpSync(UNITS, join(root, 'etc/systemd/system'), { recursive: true });
  cpSync('/lib/systemd/system', join(root, 'usr/lib/systemd/system'), { recursive: true });
  symlinkSync('usr/lib', join(root, 'lib'));
  mkdirSync(join(root, 'usr/bin'));
  cpSync('/bin/true', join(root, 'usr/bin/node'));
  return root;
}

export function checkUnits(folder: string, secrets: string): void {
  const root = makeRoot(folder);
  for (const instance of INSTANCES) {
    const unit = `caudal@${instance}.service`;
    analyze(['verify', `--root=${root}`, unit]);
    analyze(['security', `--root=${root}`, '--offline=true', `--threshold=${MAX_EXPOSURE}`, unit]);
    checkEnvironment(instance, secrets);
  }
}

/** Fails on warnings too: systemd ignores settings that it does not know. */
function analyze(args: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync('systemd-analyze', ['--no-pager', ...args], {
    encoding: 'utf8',
  });
  if (status !== 0 || stderr !== '')
    throw new Error(`systemd-analyze ${args.join(' ')}:\n${stdout}${stderr}`);
}

function checkEnvironment(instance: (typeof INSTANCES)[number], secrets: string): void {
  const values = (name: string) => readValues(instance, name).map((value) => value.split(/[:=](.*)/s, 2));
  const environment = Object.fromEntries(values('Environment')) as Record<string, string>;
  const settings = parseEnv(readFileSync(join(UNITS, 'caudal.env'), 'utf8')) as Record<string, string>;
  const credentials = values('LoadCredential').map(([name = '']) => name);
  checkRole(instance, { ...settings, ...environment }, '%d', credentials, secrets);
}

/** The values of a setting in the template and the files that add to it. An empty value removes the earlier ones. */
function readValues(instance: (typeof INSTANCES)[number], name: string): string[] {
  const additions = { api: ['secrets.conf'], worker: [], migrate: ['once.conf'] }[instance];
  const files = ['caudal@.service', ...additions.map((file) => `caudal@${instance}.service.d/${file}`)];
  const lines = files.flatMap((file) => readFileSync(join(UNITS, file), 'utf8').split('\n'));
  const found = lines
    .filter((line) => line.startsWith(`${name}=`))
    .map((line) => line.slice(name.length + 1));
  return found.slice(found.lastIndexOf('') + 1);
}
