import type { Child } from '../../../scripts/stack/child.ts';

/** A process of the stack that can be killed and restarted at the same address. */
export interface Member {
  readonly name: string;
  readonly role: 'api' | 'worker' | 'simulator';
  /** Base URL; empty for a worker. */
  readonly url: string;
  /** Base URL of health checks and metrics; empty for the simulator. */
  readonly opsUrl: string;
  readonly alive: boolean;
  /** Resolves when the current process has exited, for any reason. */
  exited(): Promise<void>;
  /** Sends SIGKILL; resolves when the process has exited. */
  kill(): Promise<void>;
  /** Process id of the current process. */
  readonly pid: number;
  /** Kills the process if it runs and starts it with additional settings; resolves when ready. */
  restart(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** The last lines that it printed. */
  output(): string;
  stop(): Promise<void>;
}

type Start = (settings: Readonly<Record<string, string>>) => Promise<Child>;

/** @param died called whenever the process exits other than by a stop request */
export async function startMember(
  identity: Pick<Member, 'name' | 'role' | 'url' | 'opsUrl'>,
  start: Start,
  died: () => void = () => undefined,
): Promise<Member> {
  let alive = true;
  let child: Child;
  const launch = async (settings: Readonly<Record<string, string>>) => {
    // A process that died before it was ready may already have done some work.
    const launched = await start(settings).catch((error: unknown) => {
      died();
      throw error;
    });
    child = launched;
    alive = true;
    void launched.exited.then((code) => {
      if (code !== 0) died();
      if (child === launched) alive = false;
    });
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await child.exited;
    alive = false;
  };
  await launch({});
  return {
    ...identity,
    get alive() {
      return alive;
    },
    get pid() {
      return child.pid;
    },
    exited: async () => {
      await child.exited;
    },
    kill,
    restart: async (settings = {}) => {
      await kill();
      await launch(settings);
    },
    output: () => child.output(),
    stop: async () => {
      if (alive) await child.stop();
    },
  };
}
