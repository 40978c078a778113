import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.ts';
import { type LoadResult, Tally } from './load-result.ts';

interface OpenLoadOptions {
  readonly ports: readonly number[];
  /** Maximum concurrent requests; later ones wait in the generator, and their wait counts as latency. */
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Evenly spaced arrivals, regardless of response times. */
  readonly perSecond: number;
  readonly request: (index: number) => string;
}

/**
 * Open model, for latency: requests arrive at a fixed rate, and latency is measured from the intended send time. A server
 * that stalls for a second is charged for all requests of that second, not for one request per connection.
 */
export async function runOpenLoad(options: OpenLoadOptions): Promise<LoadResult> {
  const { ports, perSecond, request } = options;
  const tally = new Tally();
  const free = await Promise.all(
    Array.from({ length: options.connections }, (_, index) =>
      HttpConnection.open(ports[index % ports.length] ?? 0),
    ),
  );
  const all = [...free];
  const inFlight = new Set<Promise<void>>();
  const startedAt = performance.now();
  const countedFrom = Math.round(options.warmUpSeconds * perSecond);
  const arrivals = countedFrom + Math.round(options.seconds * perSecond);
  const dueAt = (index: number) => startedAt + (index * 1000) / perSecond;
  const send = async (connection: HttpConnection, index: number) => {
    const { status } = await connection.send(request(index));
    if (index >= countedFrom) tally.add(performance.now() - dueAt(index), status === 201);
    free.push(connection);
  };
  for (let index = 0; index < arrivals; ) {
    const connection = performance.now() < dueAt(index) ? undefined : free.shift();
    if (connection) {
      if (index === countedFrom) tally.start();
      const sent = send(connection, index).finally(() => inFlight.delete(sent));
      inFlight.add(sent);
      index += 1;
    } else {
      // Timers have a resolution of one millisecond, and their delay counts against the server. A busy loop would be exact
      // but take a core from the server.
      await sleep(Math.max(1, dueAt(index) - performance.now()));
    }
  }
  await Promise.all(inFlight);
  const result = tally.end();
  for (const connection of all) connection.close();
  return result;
}
