import { readdirSync, readFileSync } from 'node:fs';

/** Of /proc/PID/stat: Linux counts a process's time in hundredths. */
const TICKS_A_SECOND = 100;

/** The fields after the name, which may hold spaces: the first of them is the state. */
function statOf(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** User and system time so far. */
export function cpuSecondsOf(pid: number): number {
  const fields = statOf(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** With its children, those that have ended included: a PostgreSQL is a process for each connection. */
export function cpuSecondsOfFamily(pid: number): number {
  const own = statOf(pid);
  const ended = (Number(own[13]) + Number(own[14])) / TICKS_A_SECOND;
  return childrenOf(pid).reduce((sum, child) => sum + childSeconds(child), cpuSecondsOf(pid) + ended);
}

function childrenOf(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        return Number(statOf(child)[1]) === pid;
      } catch {
        return false;
      }
    });
}

function childSeconds(pid: number): number {
  try {
    return cpuSecondsOf(pid);
  } catch {
    // It has ended since the folder was read; then its parent has counted it.
    return 0;
  }
}

/** Seconds of a core, by part of the stack. */
export interface Spent {
  readonly api: number;
  readonly worker: number;
  readonly postgres: number;
  readonly simulator: number;
}

export function spentSince(before: Spent, after: Spent): Spent {
  return {
    api: after.api - before.api,
    worker: after.worker - before.worker,
    postgres: after.postgres - before.postgres,
    simulator: after.simulator - before.simulator,
  };
}
