import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';

const SINK = fileURLToPath(new URL('sink.ts', import.meta.url));

export interface Sink {
  readonly pid: number;
  /** Where it answers questions. */
  readonly control: string;
  /** One for each endpoint. */
  readonly ports: readonly number[];
  forget(): Promise<void>;
  /** These endpoints accept connections and requests, and answer nothing. */
  hang(endpoints: readonly number[]): Promise<void>;
  /** `distinct` counts an event once for each endpoint that has it. */
  count(): Promise<{ readonly received: number; readonly distinct: number }>;
  /** By endpoint, all of them or these: when each event came first, by its id. */
  journal(endpoints?: readonly number[]): Promise<readonly Readonly<Record<string, number>>[]>;
  /** What came to the first endpoint, headers included. */
  requests(): Promise<readonly string[]>;
  stop(): Promise<unknown>;
}

/** Receivers of webhooks, all in a process of their own. */
export async function startSink(endpoints: number): Promise<Sink> {
  const child = await startChild({
    name: 'webhook sink',
    args: [SINK, String(endpoints)],
    readiness: 'ipc',
  });
  const control = `http://127.0.0.1:${String(child.ready['control'])}`;
  const ask = async <T>(path: string, body: unknown = null): Promise<T> => {
    const answer = await fetch(`${control}${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    return (await answer.json()) as T;
  };
  return {
    pid: child.pid,
    control,
    ports: child.ready['ports'] as number[],
    forget: () => ask('/forget'),
    hang: (which) => ask('/hang', which),
    count: () => ask('/count'),
    journal: (endpoints) => ask('/journal', endpoints ?? null),
    requests: () => ask('/requests'),
    stop: () => child.stop(),
  };
}
