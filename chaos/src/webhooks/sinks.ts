import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../scripts/stack/child.ts';
import { steadyPort } from './cluster.ts';
import type { SinkFault } from './sink.ts';

const SINK = fileURLToPath(new URL('sink.ts', import.meta.url));

/** The process behind merchants' endpoints, one sink for each. It is no part of Caudal, and nobody kills it. */
export interface Sinks {
  /** Path of its journal. */
  readonly journal: string;
  /** @returns where it answers */
  open(name: string): Promise<string>;
  /** Of a sink that is to be down, when it is up again. */
  strike(fault: SinkFault): Promise<void>;
  clearFaults(): Promise<void>;
  stats(): Promise<{
    readonly lines: number;
    /** Of events that had been acknowledged. */
    readonly duplicates: number;
    readonly struck: Readonly<Record<string, number>>;
  }>;
  stop(): Promise<void>;
}

export async function startSinks(folder: string): Promise<Sinks> {
  const journal = join(folder, 'sinks.jsonl');
  const child = await startChild({ name: 'sinks', args: [SINK, '--journal', journal], readiness: 'line' });
  const control = String(child.ready['url']);
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(control + path, {
      method,
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const answer = (await response.json()) as Record<string, unknown>;
    if (!response.ok) throw new Error(`sinks, ${method} ${path}: ${JSON.stringify(answer)}`);
    return answer;
  };
  return {
    journal,
    open: async (name) => {
      // A port of its own, that nobody else is given while it is down.
      const port = await steadyPort();
      await call('POST', '/sinks', { name, port });
      return `http://127.0.0.1:${port}/${name}`;
    },
    strike: async (fault) => void (await call('POST', '/faults', fault)),
    clearFaults: async () => void (await call('DELETE', '/faults')),
    stats: async () => (await call('GET', '/stats')) as never,
    stop: async () => void (await child.stop()),
  };
}
