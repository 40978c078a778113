import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.ts';
import { type LoadResult, Tally } from './load-result.ts';

interface LoadOptions {
  readonly ports: readonly number[];
  readonly connections: number;
  readonly seconds: number;
  /** Not counted: statements are prepared, code is compiled and caches fill. */
  readonly warmUpSeconds: number;
  /** The text of the n-th request including headers; null ends the load early. */
  readonly request: (index: number) => string | null;
}

/** Closed model, for capacity: each connection sends its next request after it has read the response. */
export async function runLoad(options: LoadOptions): Promise<LoadResult> {
  const tally = new Tally();
  let index = 0;
  let stopped = false;
  const users = Array.from({ length: options.connections }, (_, connection) =>
    user(
      options.ports[connection % options.ports.length] ?? 0,
      () => (stopped ? null : options.request(index++)),
      tally,
    ),
  );
  if (options.warmUpSeconds > 0) await sleep(options.warmUpSeconds * 1000);
  tally.start();
  const controller = new AbortController();
  await Promise.race([
    sleep(options.seconds * 1000, undefined, { signal: controller.signal }).catch(() => undefined),
    Promise.all(users),
  ]);
  controller.abort();
  const result = tally.end();
  stopped = true;
  await Promise.all(users);
  return result;
}

async function user(port: number, next: () => string | null, tally: Tally): Promise<void> {
  const connection = await HttpConnection.open(port);
  for (let request = next(); request !== null; request = next()) {
    const sentAt = performance.now();
    const { status } = await connection.send(request);
    tally.add(performance.now() - sentAt, status === 201);
  }
  connection.close();
}
