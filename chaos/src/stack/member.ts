import type { Child } from '../../scripts/stack/child.ts';

/** A process of the stage that can be killed and started again at the same address. */
export interface Member {
  readonly name: string;
  readonly role: 'api' | 'worker' | 'simulator';
  /** Where it answers; a worker answers nobody. */
  readonly url: string;
  readonly alive: boolean;
  /** Resolves when the present process is gone, by whatever cause. */
  gone(): Promise<void>;
  /** As by `kill -9`; resolves when it is gone. */
  kill(): Promise<void>;
  /** Kills it where it still runs, and starts it anew with these settings beside the usual ones; resolves when ready. */
  restart(settings?: Readonly<Record<string, string>>): Promise<void>;
  /** What it printed last. */
  output(): string;
  stop(): Promise<void>;
}

type Start = (settings: Readonly<Record<string, string>>) => Promise<Child>;

/** @param died is told whenever a process of it ends otherwise than by being asked to */
export async function startMember(
  of: Pick<Member, 'name' | 'role' | 'url'>,
  start: Start,
  died: () => void = () => undefined,
): Promise<Member> {
  let alive = true;
  let child: Child;
  const begin = async (settings: Readonly<Record<string, string>>) => {
    // One that died before it was ready may have been at work all the same.
    const begun = await start(settings).catch((error: unknown) => {
      died();
      throw error;
    });
    child = begun;
    alive = true;
    void begun.exited.then((code) => {
      if (code !== 0) died();
      if (child === begun) alive = false;
    });
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await child.exited;
    alive = false;
  };
  await begin({});
  return {
    ...of,
    get alive() {
      return alive;
    },
    gone: async () => {
      await child.exited;
    },
    kill,
    restart: async (settings = {}) => {
      await kill();
      await begin(settings);
    },
    output: () => child.output(),
    stop: async () => {
      if (alive) await child.stop();
    },
  };
}
