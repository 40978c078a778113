import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface LoadResult {
  readonly requests: number;
  readonly failures: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  /** What the generator itself cost, in seconds of one core. */
  readonly generatorCpuSeconds: number;
}

interface LoadOptions {
  readonly ports: readonly number[];
  readonly connections: number;
  readonly seconds: number;
  /** Not counted: prepared statements, just-in-time compilation and caches come to rest. */
  readonly warmUpSeconds: number;
  /** The bytes of the n-th request, headers included; null when there are no more, which ends the load early. */
  readonly request: (index: number) => string | null;
}

/**
 * Closed-model load over raw sockets: each connection sends its next request when it has read the answer. A client
 * library would cost as much as the server it measures.
 */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  let failures = 0;
  let index = 0;
  let counting = false;
  let stopped = false;
  const users = Array.from({ length: options.connections }, (_, connection) =>
    user(
      options.ports[connection % options.ports.length] ?? 0,
      () => (stopped ? null : options.request(index++)),
      (ms, ok) => {
        if (!counting) return;
        if (ok) latencies.push(ms);
        else failures += 1;
      },
    ),
  );
  await sleep(options.warmUpSeconds * 1000);
  counting = true;
  const began = performance.now();
  const cpu = process.cpuUsage();
  const enough = new AbortController();
  await Promise.race([
    sleep(options.seconds * 1000, undefined, { signal: enough.signal }).catch(() => undefined),
    Promise.all(users),
  ]);
  enough.abort();
  const seconds = (performance.now() - began) / 1000;
  const spent = process.cpuUsage(cpu);
  counting = false;
  stopped = true;
  await Promise.all(users);
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    failures,
    seconds,
    perSecond: latencies.length / seconds,
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    maxMs: latencies.at(-1) ?? 0,
    generatorCpuSeconds: (spent.user + spent.system) / 1e6,
  };
}

export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

/** One connection, until it is given no more requests. */
function user(
  port: number,
  next: () => string | null,
  done: (ms: number, ok: boolean) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket: Socket = connect({ port, host: '127.0.0.1', noDelay: true });
    let buffered = '';
    let sentAt = 0;
    const send = () => {
      const request = next();
      if (request === null) {
        socket.end();
        resolve();
        return;
      }
      sentAt = performance.now();
      socket.write(request);
    };
    socket.setEncoding('latin1');
    socket.once('connect', send);
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      buffered += String(chunk);
      const headEnd = buffered.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(buffered)?.[1] ?? 0);
      if (buffered.length < headEnd + 4 + length) return;
      const ok = buffered.startsWith('HTTP/1.1 201');
      buffered = '';
      done(performance.now() - sentAt, ok);
      send();
    });
  });
}
