import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { passings } from './failpoint-plan.ts';
import type { Member } from './member.ts';
import type { Outages } from './outages.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

const COMES_BACK_WITHIN_MS = 60_000;

/** How often each kind of death, by weight. */
export const DEATHS = { one: 62, two: 12, failpoint: 14, simulator: 7, database: 5 };
type Death = keyof typeof DEATHS;

interface KillerOptions {
  readonly cluster: Cluster;
  readonly stage: Stage;
  readonly random: Random;
  readonly outages: Outages;
  readonly weights: Readonly<Record<Death, number>>;
  /** Transactions and calls at which a process of this role can die. */
  readonly failpointsOf: (role: Member['role']) => readonly string[];
  readonly noteKill?: () => void;
}

/** Kills processes of a stage at random and sees to it that each comes back. */
export class Killer {
  /** Processes that could not be brought back. */
  readonly failures: string[] = [];
  readonly counts = new Map<Death, number>();
  readonly #options: KillerOptions;
  readonly #coming = new Set<Promise<void>>();
  readonly #away = new Set<Member>();

  constructor(options: KillerOptions) {
    this.#options = options;
  }

  /** How many have not come back yet. */
  get away(): number {
    return this.#away.size;
  }

  /** @returns false when whoever was to die is away already */
  async kill(): Promise<boolean> {
    const { stage, random, weights } = this.#options;
    const death = random.weighted(weights);
    if (death === 'database') return this.#crashDatabase();
    const ready = (death === 'simulator' ? [stage.simulator] : [...stage.apis, ...stage.workers]).filter(
      (member) => !this.#away.has(member),
    );
    const victims = ready.toSorted(() => random.fraction() - 0.5).slice(0, death === 'two' ? 2 : 1);
    if (victims.length === 0) return false;
    for (const victim of victims)
      this.#come(victim, death === 'failpoint' ? this.#failpointOf(victim) : null);
    this.#count(death);
    return true;
  }

  /** Does something meanwhile; what fails is kept among the failures. */
  follow(work: Promise<void>): void {
    const followed = work
      .catch((error: unknown) => {
        this.failures.push(error instanceof Error ? error.message : String(error));
      })
      .finally(() => this.#coming.delete(followed));
    this.#coming.add(followed);
  }

  /** Everybody is back. */
  async allBack(): Promise<void> {
    await Promise.all(this.#coming);
  }

  told(): string {
    return [...this.counts].map(([death, count]) => `${count} ${death}`).join(', ');
  }

  /** Killed at once, or at a failpoint it soon passes; back as soon as it can be. */
  #come(victim: Member, failpoint: string | null): void {
    const { outages, random, noteKill } = this.#options;
    this.#away.add(victim);
    const end = victim.role === 'simulator' ? outages.begin() : () => undefined;
    const back = (async () => {
      await victim.kill();
      noteKill?.();
      if (failpoint !== null) {
        await victim.restart({ CAUDAL_FAILPOINT: failpoint }).catch(() => undefined);
        await Promise.race([victim.gone(), sleep(3000)]);
        await victim.kill();
        noteKill?.();
      }
      await insist(() => victim.restart());
      // Let it take something up before it can be struck again.
      await sleep(random.whole(300, 1500));
    })().finally(() => {
      end();
      this.#away.delete(victim);
    });
    this.follow(back);
  }

  #failpointOf({ role }: Member): string | null {
    const { random, failpointsOf } = this.#options;
    const [first, ...others] = failpointsOf(role);
    if (first === undefined) return null;
    const name = random.pick([first, ...others]);
    const side = random.pick(/^(?:BRE_B|PSE) /.test(name) ? SIDES_OF_A_CALL : SIDES_OF_A_COMMIT);
    const failpoint = `${name}: ${side}`;
    return `${failpoint}#${random.whole(1, passings(failpoint))}`;
  }

  async #crashDatabase(): Promise<boolean> {
    const end = this.#options.outages.begin();
    try {
      await this.#options.cluster.crash();
    } finally {
      end();
    }
    this.#count('database');
    return true;
  }

  #count(death: Death): void {
    this.counts.set(death, (this.counts.get(death) ?? 0) + 1);
  }
}

const SIDES_OF_A_CALL = ['before call', 'after call'] as const;
const SIDES_OF_A_COMMIT = ['before commit', 'after commit'] as const;

/** A server or a command that finds no database ends with an error and is started again, as whoever runs it would. */
export async function insist<T>(work: () => Promise<T>): Promise<T> {
  const deadline = performance.now() + COMES_BACK_WITHIN_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(200);
    }
  }
}
