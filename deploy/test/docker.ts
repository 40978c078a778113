/**
 * Stands in for `docker` where there is no Docker engine, so that CI can run the commands of docs/operating/containers.md as
 * they are written: run, exec, logs and stop, on one buildah container. IMAGE_FOLDER names the folder of the image store.
 * The network is that of the caller (--network host). Exits with 125 for what it does not support, as docker does.
 */
import { type SpawnOptions, spawn } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { IMAGE_USER, storeArgs } from './buildah.ts';

const folder = process.env['IMAGE_FOLDER'] ?? '';
const stateFolder = join(folder, 'containers');
const STOP_WITHIN_MS = 30_000;

interface Container {
  readonly pid: number;
  /** Options of `buildah run`, which `docker exec` needs too. */
  readonly options: readonly string[];
}

/** The buildah container of the image, and its directories that every user can write to. */
interface Prepared {
  readonly container: string;
  readonly writable: readonly string[];
}

const prepared = JSON.parse(readFileSync(join(folder, 'prepared.json'), 'utf8')) as Prepared;

async function main([command = '', ...args]: readonly string[]): Promise<number> {
  mkdirSync(stateFolder, { recursive: true });
  if (command === 'run') return run(args);
  if (command === 'exec') {
    const [name = '', ...rest] = args;
    return start([...load(name).options], rest, { stdio: 'inherit' }).exited;
  }
  if (command === 'logs') {
    process.stdout.write(readFileSync(logFile(args[0] ?? '')));
    return 0;
  }
  if (command === 'stop') {
    await Promise.all(args.map(stop));
    return 0;
  }
  throw new Error(`docker ${command} is not supported here`);
}

async function run(args: readonly string[]): Promise<number> {
  const end = args.findIndex((arg) => arg.startsWith('caudal:'));
  if (end === -1) throw new Error('the image must be caudal:VERSION');
  const { values } = parseArgs({
    args: args.slice(0, end),
    options: {
      rm: { type: 'boolean' },
      detach: { type: 'boolean' },
      'read-only': { type: 'boolean' },
      name: { type: 'string' },
      network: { type: 'string' },
      entrypoint: { type: 'string' },
      'env-file': { type: 'string', multiple: true },
      env: { type: 'string', multiple: true },
      volume: { type: 'string', multiple: true },
    },
  });
  const variables = [
    ...(values['env-file'] ?? []).flatMap(readEnvFile),
    ...(values.env ?? []).map(completeVariable),
  ];
  const options = [
    ...variables.map((variable) => `--env=${variable}`),
    ...(values.volume ?? []).map((volume) => `--volume=${toVolume(volume)}`),
    // buildah cannot mount the root read-only: the user can write only to these directories, so they become read-only.
    ...(values['read-only'] ? prepared.writable.map((path) => `--volume=${emptyFolder()}:${path}:ro`) : []),
  ];
  const program = [values.entrypoint ?? 'caudal', ...args.slice(end + 1)];
  if (!values.detach) return start(options, program, { stdio: 'inherit' }).exited;
  const name = values.name ?? '';
  const log = openSync(logFile(name), 'w');
  const { child } = start(options, program, { stdio: ['ignore', log, log], detached: true });
  const state: Container = { pid: child.pid ?? 0, options };
  writeFileSync(stateFile(name), JSON.stringify(state));
  child.unref();
  console.log(name);
  return 0;
}

function start(options: readonly string[], program: readonly string[], spawning: SpawnOptions) {
  const args = [
    ...storeArgs(folder),
    'run',
    '--isolation=chroot',
    ...options,
    prepared.container,
    '--',
    ...program,
  ];
  const child = spawn('buildah', args, spawning);
  const exited = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code) => resolve(code ?? 1));
  });
  return { child, exited };
}

const stateFile = (name: string): string => join(stateFolder, `${name}.json`);
const logFile = (name: string): string => join(stateFolder, `${name}.log`);
const load = (name: string): Container => JSON.parse(readFileSync(stateFile(name), 'utf8')) as Container;

/** Signals the program in the container, as docker does: buildah kills it when it gets the signal. */
async function stop(name: string): Promise<void> {
  const { pid } = load(name);
  process.kill(innermost(pid), 'SIGTERM');
  const deadline = performance.now() + STOP_WITHIN_MS;
  while (existsSync(`/proc/${pid}`) && !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))) {
    if (performance.now() > deadline) throw new Error(`${name} did not stop in time`);
    await sleep(50);
  }
  console.log(name);
}

/** The last process of the chain. buildah may start a process from any of its threads. */
function innermost(pid: number): number {
  const children = readdirSync(`/proc/${pid}/task`)
    .map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8').trim())
    .find((list) => list !== '');
  return children === undefined ? pid : innermost(Number.parseInt(children, 10));
}

function readEnvFile(file: string): string[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** `--env NAME` takes the value from the caller. */
function completeVariable(variable: string): string {
  return variable.includes('=') ? variable : `${variable}=${process.env[variable] ?? ''}`;
}

/** A named volume is a folder that belongs to the user of the image. */
function toVolume(volume: string): string {
  if (volume.startsWith('/')) return volume;
  const [name = '', ...rest] = volume.split(':');
  const path = join(folder, 'volumes', name);
  mkdirSync(path, { recursive: true });
  chownSync(path, IMAGE_USER, IMAGE_USER);
  return [path, ...rest].join(':');
}

function emptyFolder(): string {
  const path = join(folder, 'empty');
  mkdirSync(path, { recursive: true });
  return path;
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    console.error(`docker: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 125;
  },
);
