/** A process that makes the load of a plan (a file), open model, and writes what came of it beside the plan. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep, setImmediate as soon } from 'node:timers/promises';
import { BareConnection } from './connection.ts';
import { type OverloadPlan, type OverloadResult, PHASE_BEGINS, SERIAL, type StreamResult } from './plan.ts';

interface Counting {
  sent: number;
  readonly statuses: Record<string, number>;
  readonly done: [number, number][];
  readonly refusedAtMs: number[];
}

const file = process.argv[2] ?? '';
const plan = JSON.parse(readFileSync(file, 'utf8')) as OverloadPlan;
const serials = plan.streams.map(() => 0);
const templates = plan.streams.map(({ requests }) => requests.map((request) => request.split(SERIAL)));
const all: BareConnection[] = [];
const pools = new Map<string, BareConnection[]>();
/** Of each stream; those that ask the same servers share theirs. */
const freeOf = await Promise.all(plan.streams.map(({ ports = plan.ports }) => connectionsTo(ports)));

const phases: StreamResult[][] = [];
const generatorCpuSeconds: number[] = [];
for (const phase of plan.phases) {
  console.log(PHASE_BEGINS);
  const cpu = process.cpuUsage();
  phases.push(await runPhase(phase));
  const spent = process.cpuUsage(cpu);
  generatorCpuSeconds.push((spent.user + spent.system) / 1e6);
}
console.log(PHASE_BEGINS);
for (const connection of all) connection.close();
writeFileSync(`${file}.result`, JSON.stringify({ phases, generatorCpuSeconds } satisfies OverloadResult));

/** Ends when its time is over and all it sent is answered. */
async function runPhase({ seconds, perSecond }: OverloadPlan['phases'][number]): Promise<Counting[]> {
  const counts = plan.streams.map((): Counting => ({ sent: 0, statuses: {}, done: [], refusedAtMs: [] }));
  const began = performance.now();
  const endsAt = seconds * 1000;
  const underWay = { count: 0 };
  const sendDue = () => {
    const now = performance.now() - began;
    for (const [index, count] of counts.entries()) {
      const free = freeOf[index] ?? [];
      const rate = perSecond[index] ?? 0;
      for (let dueAt = (count.sent * 1000) / rate; dueAt <= now && dueAt < endsAt && free.length > 0; ) {
        underWay.count += 1;
        send(free, index, count, dueAt);
        dueAt = (count.sent * 1000) / rate;
      }
    }
  };
  const send = (free: BareConnection[], index: number, count: Counting, dueAt: number) => {
    const connection = free.shift();
    if (!connection) return;
    count.sent += 1;
    connection.send(nextRequest(index), (status) => {
      underWay.count -= 1;
      free.push(connection);
      count.statuses[status] = (count.statuses[status] ?? 0) + 1;
      const at = performance.now() - began;
      if (status < 300) count.done.push([Math.round(dueAt), Math.round((at - dueAt) * 10) / 10]);
      else count.refusedAtMs.push(Math.round(at));
    });
  };
  while (performance.now() - began < endsAt) {
    sendDue();
    await sleep(1);
  }
  while (underWay.count > 0) await soon();
  return counts;
}

async function connectionsTo(ports: readonly number[]): Promise<BareConnection[]> {
  const name = ports.join();
  const known = pools.get(name);
  if (known) return known;
  const pool: BareConnection[] = [];
  pools.set(name, pool);
  for (let index = 0; index < plan.connections; index += 1)
    pool.push(await BareConnection.open(ports[index % ports.length] ?? 0, lost));
  all.push(...pool);
  return pool;
}

function nextRequest(stream: number): string {
  const serial = serials[stream] ?? 0;
  serials[stream] = serial + 1;
  const requests = templates[stream] ?? [];
  return (requests[serial % requests.length] ?? []).join(String(serial).padStart(SERIAL.length, '0'));
}

function lost(error: Error): void {
  throw new Error('a connection was lost', { cause: error });
}
