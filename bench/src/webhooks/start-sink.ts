import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';

const SINK = fileURLToPath(new URL('sink.ts', import.meta.url));

export interface Sink {
  readonly pid: number;
  /** Base URL of its control API. */
  readonly control: string;
  /** One port per endpoint. */
  readonly ports: readonly number[];
  reset(): Promise<void>;
  /** Makes these endpoints accept requests without ever answering. */
  hang(endpoints: readonly number[]): Promise<void>;
  /** `distinct` counts each event once per endpoint. */
  count(): Promise<{ readonly received: number; readonly distinct: number }>;
  /** First arrival times by event id, for these endpoints or all. */
  journal(endpoints?: readonly number[]): Promise<readonly Readonly<Record<string, number>>[]>;
  /** Requests to the first endpoint, including headers. */
  requests(): Promise<readonly string[]>;
  stop(): Promise<unknown>;
}

/** Starts webhook receivers in a separate process. */
export async function startSink(endpoints: number): Promise<Sink> {
  const child = await startChild({
    name: 'webhook sink',
    args: [SINK, String(endpoints)],
    readiness: 'ipc',
  });
  const control = `http://127.0.0.1:${String(child.ready['control'])}`;
  const post = async <T>(path: string, body: unknown = null): Promise<T> => {
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
    reset: () => post('/reset'),
    hang: (which) => post('/hang', which),
    count: () => post('/count'),
    journal: (endpoints) => post('/journal', endpoints ?? null),
    requests: () => post('/requests'),
    stop: () => child.stop(),
  };
}
