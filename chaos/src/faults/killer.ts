import { setTimeout as sleep } from 'node:timers/promises';
import { maxPasses } from '../failpoints/plan.ts';
import type { Random } from '../run/random.ts';
import type { Cluster } from '../stack/cluster.ts';
import type { Member } from '../stack/member.ts';
import type { Stack } from '../stack/stack.ts';
import type { Outages } from './outages.ts';

const RESTART_TIMEOUT_MS = 60_000;

/** Weight of each kind of kill. */
export const KILL_WEIGHTS = { one: 62, two: 12, failpoint: 14, simulator: 7, database: 5 };
type KillKind = keyof typeof KILL_WEIGHTS;

interface KillerOptions {
  readonly cluster: Cluster;
  readonly stack: Stack;
  readonly random: Random;
  readonly outages: Outages;
  readonly weights: Readonly<Record<KillKind, number>>;
  /** Transactions and rail calls at which a process of this role can die. */
  readonly failpointsFor: (role: Member['role']) => readonly string[];
  readonly noteKill?: () => void;
}

/** Kills random processes of a stack and restarts each of them. */
export class Killer {
  /** Processes that could not be restarted. */
  readonly failures: string[] = [];
  readonly counts = new Map<KillKind, number>();
  readonly #options: KillerOptions;
  readonly #restarts = new Set<Promise<void>>();
  readonly #down = new Set<Member>();

  constructor(options: KillerOptions) {
    this.#options = options;
  }

  /** Number of processes that have not restarted yet. */
  get downCount(): number {
    return this.#down.size;
  }

  /** @returns false when every candidate is already down */
  async kill(): Promise<boolean> {
    const { stack, random, weights } = this.#options;
    const kind = random.weighted(weights);
    if (kind === 'database') return this.#crashDatabase();
    const ready = (kind === 'simulator' ? [stack.simulator] : [...stack.apis, ...stack.workers]).filter(
      (member) => !this.#down.has(member),
    );
    const victims = ready.toSorted(() => random.fraction() - 0.5).slice(0, kind === 'two' ? 2 : 1);
    if (victims.length === 0) return false;
    for (const victim of victims)
      this.#killAndRestart(victim, kind === 'failpoint' ? this.#drawFailpoint(victim) : null);
    this.#count(kind);
    return true;
  }

  /** Tracks background work; its error is added to the failures. */
  track(work: Promise<void>): void {
    const tracked = work
      .catch((error: unknown) => {
        this.failures.push(error instanceof Error ? error.message : String(error));
      })
      .finally(() => this.#restarts.delete(tracked));
    this.#restarts.add(tracked);
  }

  /** Resolves when all killed processes have restarted. */
  async allRestarted(): Promise<void> {
    await Promise.all(this.#restarts);
  }

  summary(): string {
    return [...this.counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
  }

  /** Kills the process now, or at a failpoint that it soon passes, and restarts it. */
  #killAndRestart(victim: Member, failpoint: string | null): void {
    const { outages, random, noteKill } = this.#options;
    this.#down.add(victim);
    const endOutage = victim.role === 'simulator' ? outages.start() : () => undefined;
    const back = (async () => {
      await victim.kill();
      noteKill?.();
      if (failpoint !== null) {
        await victim.restart({ CAUDAL_FAILPOINT: failpoint }).catch(() => undefined);
        await Promise.race([victim.exited(), sleep(3000)]);
        await victim.kill();
        noteKill?.();
      }
      await retryUntilDeadline(() => victim.restart());
      // Lets it start some work before it can be killed again.
      await sleep(random.integer(300, 1500));
    })().finally(() => {
      endOutage();
      this.#down.delete(victim);
    });
    this.track(back);
  }

  #drawFailpoint({ role }: Member): string | null {
    const { random, failpointsFor } = this.#options;
    const [first, ...others] = failpointsFor(role);
    if (first === undefined) return null;
    const name = random.pick([first, ...others]);
    const side = random.pick(/^(?:BRE_B|PSE) /.test(name) ? CALL_SIDES : COMMIT_SIDES);
    const failpoint = `${name}: ${side}`;
    return `${failpoint}#${random.integer(1, maxPasses(failpoint))}`;
  }

  async #crashDatabase(): Promise<boolean> {
    const endOutage = this.#options.outages.start();
    try {
      await this.#options.cluster.crash();
    } finally {
      endOutage();
    }
    this.#count('database');
    return true;
  }

  #count(kind: KillKind): void {
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }
}

const CALL_SIDES = ['before call', 'after call'] as const;
const COMMIT_SIDES = ['before commit', 'after commit'] as const;

/** Retries like a supervisor: a server or command that finds no database exits with an error. */
export async function retryUntilDeadline<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + RESTART_TIMEOUT_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(200);
    }
  }
}
