/** A process that generates the load of a plan file (open model) and writes the result next to the plan. */
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep, setImmediate as soon } from 'node:timers/promises';
import { CallbackConnection } from './connection.ts';
import { type OverloadPlan, type OverloadResult, PHASE_STARTS, SERIAL, type StreamResult } from './plan.ts';

interface Counting {
  sent: number;
  readonly statuses: Record<string, number>;
  readonly done: [number, number][];
  readonly rejectedAtMs: number[];
}

const file = process.argv[2] ?? '';
const plan = JSON.parse(readFileSync(file, 'utf8')) as OverloadPlan;
const serials = plan.streams.map(() => 0);
const templates = plan.streams.map(({ requests }) => requests.map((request) => request.split(SERIAL)));
const all: CallbackConnection[] = [];
const pools = new Map<string, CallbackConnection[]>();
/** Free connections by stream; streams to the same servers share them. */
const freeConnections = await Promise.all(plan.streams.map(({ ports = plan.ports }) => connectionsTo(ports)));

const phases: StreamResult[][] = [];
const generatorCpuSeconds: number[] = [];
for (const phase of plan.phases) {
  console.log(PHASE_STARTS);
  const cpu = process.cpuUsage();
  phases.push(await runPhase(phase));
  const spent = process.cpuUsage(cpu);
  generatorCpuSeconds.push((spent.user + spent.system) / 1e6);
}
console.log(PHASE_STARTS);
for (const connection of all) connection.close();
writeFileSync(`${file}.result`, JSON.stringify({ phases, generatorCpuSeconds } satisfies OverloadResult));

/** Resolves when the time has passed and all requests are answered. */
async function runPhase({ seconds, perSecond }: OverloadPlan['phases'][number]): Promise<Counting[]> {
  const counts = plan.streams.map((): Counting => ({ sent: 0, statuses: {}, done: [], rejectedAtMs: [] }));
  const startedAt = performance.now();
  const endsAt = seconds * 1000;
  const inFlight = { count: 0 };
  const sendDue = () => {
    const now = performance.now() - startedAt;
    for (const [index, count] of counts.entries()) {
      const free = freeConnections[index] ?? [];
      const rate = perSecond[index] ?? 0;
      for (let dueAt = (count.sent * 1000) / rate; dueAt <= now && dueAt < endsAt && free.length > 0; ) {
        inFlight.count += 1;
        send(free, index, count, dueAt);
        dueAt = (count.sent * 1000) / rate;
      }
    }
  };
  const send = (free: CallbackConnection[], index: number, count: Counting, dueAt: number) => {
    const connection = free.shift();
    if (!connection) return;
    count.sent += 1;
    connection.send(nextRequest(index), (status) => {
      inFlight.count -= 1;
      free.push(connection);
      count.statuses[status] = (count.statuses[status] ?? 0) + 1;
      const at = performance.now() - startedAt;
      if (status < 300) count.done.push([Math.round(dueAt), Math.round((at - dueAt) * 10) / 10]);
      else count.rejectedAtMs.push(Math.round(at));
    });
  };
  while (performance.now() - startedAt < endsAt) {
    sendDue();
    await sleep(1);
  }
  while (inFlight.count > 0) await soon();
  return counts;
}

async function connectionsTo(ports: readonly number[]): Promise<CallbackConnection[]> {
  const name = ports.join();
  const known = pools.get(name);
  if (known) return known;
  const pool: CallbackConnection[] = [];
  pools.set(name, pool);
  for (let index = 0; index < plan.connections; index += 1)
    pool.push(await CallbackConnection.open(ports[index % ports.length] ?? 0, lost));
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
  throw new Error('connection lost', { cause: error });
}
