import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseUser } from '../../scripts/stack/postgres.ts';
import { POSTGRES_BIN } from './configuration.ts';

const GONE_WITHIN_MS = 15_000;

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  readonly log: string;
  readonly home: string;
  readonly user: DatabaseUser;
  /** File of the network namespace that it runs in; null for the one of this process. */
  readonly network: string | null;
}

/** Starts a program as the database user, in its own process group. The pid is the program's: nothing runs in between. */
export function launch({ command, args, log, home, user, network }: Launch): ChildProcess {
  const file = openSync(log, 'a');
  const { uid, gid } = user;
  const identity = uid === undefined ? [] : ['--setuid', String(uid), '--setgid', String(gid)];
  const [program, programArgs, options] =
    network === null
      ? [command, args, user]
      : ['nsenter', [`--net=${network}`, ...identity, command, ...args], {}];
  try {
    return spawn(program, programArgs, {
      ...options,
      cwd: home,
      env: { PATH: `${POSTGRES_BIN}:/usr/sbin:/usr/bin:/bin`, HOME: home, LC_ALL: 'C.UTF-8' },
      stdio: ['ignore', file, file],
      detached: true,
    });
  } finally {
    closeSync(file);
  }
}

/** @returns false when the process has exited */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    process.kill(pid, name);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'ESRCH') return false;
    throw error;
  }
}

/** A process that has exited may remain as a zombie until its parent collects it. */
export function isAlive(pid: number): boolean {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(status.slice(status.lastIndexOf(')') + 2));
  } catch {
    return false;
  }
}

export async function waitUntilGone(pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + GONE_WITHIN_MS;
  while (pids.some(isAlive)) {
    if (performance.now() > deadline)
      throw new Error(`processes did not exit: ${pids.filter(isAlive).join(' ')}`);
    await sleep(20);
  }
}

/** The postmaster of a data directory and its backends; none when it does not run. */
export function postgresPids(dataFolder: string): number[] {
  try {
    const postmaster = Number(readFileSync(`${dataFolder}/postmaster.pid`, 'utf8').split('\n')[0]);
    // The file survives a crash, and its pid may belong to another program by now.
    if (!readFileSync(`/proc/${postmaster}/cmdline`, 'utf8').includes(dataFolder)) return [];
    const children = readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, 'utf8').trim();
    return [postmaster, ...(children === '' ? [] : children.split(' ').map(Number))];
  } catch {
    return [];
  }
}
