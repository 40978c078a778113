import { setTimeout as sleep } from 'node:timers/promises';
import { HttpConnection } from './http-connection.ts';
import { type LoadResult, Tally } from './load-result.ts';

interface OpenLoadOptions {
  readonly ports: readonly number[];
  /** At most so many requests are on their way at once; later ones wait here, and their waiting counts. */
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Arrivals, evenly spaced, whatever the answers take. */
  readonly perSecond: number;
  readonly request: (index: number) => string;
}

/**
 * Open model, for latency: requests arrive at a fixed rate, and each one's time counts from the moment it was to be sent.
 * A server that stands still for a second is charged with all that would have come in that second, not with one request
 * for each connection.
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
  const underWay = new Set<Promise<void>>();
  const began = performance.now();
  const countedFrom = Math.round(options.warmUpSeconds * perSecond);
  const arrivals = countedFrom + Math.round(options.seconds * perSecond);
  const dueAt = (index: number) => began + (index * 1000) / perSecond;
  const send = async (connection: HttpConnection, index: number) => {
    const { status } = await connection.ask(request(index));
    if (index >= countedFrom) tally.add(performance.now() - dueAt(index), status === 201);
    free.push(connection);
  };
  for (let index = 0; index < arrivals; ) {
    const connection = performance.now() < dueAt(index) ? undefined : free.shift();
    if (connection) {
      if (index === countedFrom) tally.start();
      const sent = send(connection, index).finally(() => underWay.delete(sent));
      underWay.add(sent);
      index += 1;
    } else {
      // A timer's grain is a millisecond, and what it is late by counts against the server: to turn in a loop until the
      // very moment would take a core from it instead.
      await sleep(Math.max(1, dueAt(index) - performance.now()));
    }
  }
  await Promise.all(underWay);
  const result = tally.end();
  for (const connection of all) connection.close();
  return result;
}
