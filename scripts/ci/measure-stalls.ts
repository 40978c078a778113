/**
 * Prints one JSON line for each stall of this machine, until its standard input ends. It runs as its own process with the
 * highest priority, so that the load of the tests alone does not delay it.
 */
import { readFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import type { Stall } from './machine-stalls.ts';

const SAMPLE_MS = 100;
/** A timer that is later means that the whole machine stood still. */
const LATE_MS = 500;
const WINDOW_MS = 5000;
/** Share of the CPU time that the hypervisor gave to other machines. */
const STOLEN_SHARE = 0.2;

interface CpuTimes {
  readonly at: number;
  readonly total: number;
  readonly stolen: number;
}

function readCpuTimes(at: number): CpuTimes {
  const [first = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const times = first.split(/\s+/).slice(1, 9).map(Number);
  return { at, total: times.reduce((sum, time) => sum + time, 0), stolen: times[7] ?? 0 };
}

function report(stall: Stall): void {
  process.stdout.write(`${JSON.stringify(stall)}\n`);
}

try {
  setPriority(-20);
} catch {
  // Only root may raise a priority. Measured without it, a stall can also be the load of the tests.
}
let sampledAt = Date.now();
let window = readCpuTimes(sampledAt);
const timer = setInterval(() => {
  const now = Date.now();
  const lateMs = now - sampledAt - SAMPLE_MS;
  if (lateMs > LATE_MS) report({ from: sampledAt, to: now, cause: `no process ran for ${lateMs} ms` });
  sampledAt = now;
  if (now - window.at < WINDOW_MS) return;
  const times = readCpuTimes(now);
  const share = (times.stolen - window.stolen) / Math.max(1, times.total - window.total);
  if (share > STOLEN_SHARE)
    report({
      from: window.at,
      to: now,
      cause: `other machines took ${Math.round(share * 100)} % of the CPU time`,
    });
  window = times;
}, SAMPLE_MS);
process.stdin.on('end', () => clearInterval(timer)).resume();
