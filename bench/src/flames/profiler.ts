import { setTimeout as sleep } from 'node:timers/promises';

/** The parts of a V8 CPU profile that a flame graph needs. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** The node that was running at each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
  };
  readonly children?: readonly number[];
}

const SAMPLE_MICROSECONDS = 500;

/**
 * Profiles a process through its inspector while some work runs. `--cpu-prof` would cover the whole process lifetime:
 * startup, warm-up and idle time would dominate the graph.
 */
export async function profiled(port: number, work: () => Promise<void>): Promise<CpuProfile> {
  const socket = new WebSocket(await debuggerUrl(port));
  const waiting = new Map<number, (result: unknown) => void>();
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve);
    socket.addEventListener('error', () => reject(new Error('cannot connect to the inspector')));
  });
  socket.addEventListener('message', ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: unknown };
    waiting.get(id)?.(result);
  });
  let calls = 0;
  const call = (method: string, params: object = {}) =>
    new Promise<unknown>((resolve) => {
      const id = ++calls;
      waiting.set(id, resolve);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await call('Profiler.enable');
  await call('Profiler.setSamplingInterval', { interval: SAMPLE_MICROSECONDS });
  await call('Profiler.start');
  await work();
  const { profile } = (await call('Profiler.stop')) as { profile: CpuProfile };
  socket.close();
  return profile;
}

async function debuggerUrl(port: number): Promise<string> {
  for (let left = 50; ; left -= 1) {
    try {
      const targets = (await (await fetch(`http://127.0.0.1:${port}/json`)).json()) as {
        webSocketDebuggerUrl: string;
      }[];
      return targets[0]?.webSocketDebuggerUrl ?? '';
    } catch (error) {
      if (left === 0) throw error;
      await sleep(100);
    }
  }
}
