import { readdirSync, readFileSync } from 'node:fs';

/** Unit of CPU time in /proc/PID/stat. */
const TICKS_PER_SECOND = 100;

/** The fields after the process name, which may contain spaces; the first field is the state. */
function readStat(pid: number): readonly string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** User and system CPU time of a process so far. */
export function readCpuSeconds(pid: number): number {
  const fields = readStat(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Including running and exited children: PostgreSQL uses one process per connection. */
export function readTreeCpuSeconds(pid: number): number {
  const own = readStat(pid);
  const ended = (Number(own[13]) + Number(own[14])) / TICKS_PER_SECOND;
  return listChildren(pid).reduce((sum, child) => sum + childSeconds(child), readCpuSeconds(pid) + ended);
}

function listChildren(pid: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((child) => {
      try {
        return Number(readStat(child)[1]) === pid;
      } catch {
        return false;
      }
    });
}

function childSeconds(pid: number): number {
  try {
    return readCpuSeconds(pid);
  } catch {
    // The process exited after the folder was read, so its parent has counted its time.
    return 0;
  }
}

/** CPU seconds by component of the stack. */
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
