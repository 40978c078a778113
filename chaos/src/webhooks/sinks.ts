import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../../../scripts/stack/child.ts';
import { freePort } from '../../../scripts/stack/free-port.ts';
import type { SinkFault } from './sink.ts';

const SINK = fileURLToPath(new URL('sink.ts', import.meta.url));

/** The process behind merchants' endpoints, with one sink per endpoint. It is not part of Caudal and is never killed. */
export interface Sinks {
  /** Path of its journal. */
  readonly journal: string;
  /** @returns the URL of the new sink */
  open(name: string): Promise<string>;
  /** For a `down` fault, resolves when the sink is up again. */
  addFault(fault: SinkFault): Promise<void>;
  clearFaults(): Promise<void>;
  stats(): Promise<{
    readonly lines: number;
    /** Requests for events that were already acknowledged. */
    readonly duplicates: number;
    readonly injected: Readonly<Record<string, number>>;
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
      // A port that no other process gets while the sink is down.
      const port = await freePort();
      await call('POST', '/sinks', { name, port });
      return `http://127.0.0.1:${port}/${name}`;
    },
    addFault: async (fault) => void (await call('POST', '/faults', fault)),
    clearFaults: async () => void (await call('DELETE', '/faults')),
    stats: async () => (await call('GET', '/stats')) as never,
    stop: async () => void (await child.stop()),
  };
}
