import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { PASSERS, passings } from './failpoint-plan.ts';
import { type Faults, startFaults } from './faults.ts';
import type { Member } from './member.ts';
import { Outages } from './outages.ts';
import { type Outcome, say, tally } from './outcome.ts';
import type { Random } from './random.ts';
import { type TakeoverWatch, watchTakeovers } from './takeover.ts';
import { startTrial, type Trial } from './trial.ts';

const KINDS = { one: 62, two: 12, failpoint: 14, simulator: 7, database: 5 };
const LOOK_EVERY = 25;
const DRAIN_EVERY = 125;
const COMES_BACK_WITHIN_MS = 60_000;

/** Kills processes at random moments under load and faults, and judges what is left every now and then. */
export async function runKills(cluster: Cluster, seed: number, count: number): Promise<Outcome> {
  const began = performance.now();
  say(`kills: ${count}, seed ${seed}`);
  const trial = await startTrial(cluster, seed);
  const outcome = tally();
  const hunt = new Hunt(cluster, trial);
  try {
    for (let kills = 0; kills < count; ) {
      const round = Math.min(LOOK_EVERY, count - kills);
      await hunt.kill(round);
      kills += round;
      const drained = kills % DRAIN_EVERY === 0 || kills === count;
      if (drained) await hunt.rest();
      const { whole, text } = await trial.judge(drained ? 'drained' : 'going on');
      say(`  after ${kills} kills: ${text}`);
      if (whole) outcome.pass();
      else
        outcome.fail(
          `after ${kills} kills the checker found violations (seed ${seed}); journals: ${trial.keepJournals()}`,
        );
      if (!whole) break;
      if (drained && kills < count) hunt.goOn();
    }
    for (const failure of hunt.failures) outcome.fail(failure);
    for (const late of hunt.takeovers.late) outcome.fail(`not taken over within 30 s: ${late}`);
    if (hunt.takeovers.late.length === 0) outcome.pass();
  } finally {
    await hunt.end();
    await trial.end();
  }
  say(`kills: ${hunt.told()}`);
  const seconds = (performance.now() - began) / 1000;
  const { payins, sent, repeats } = trial.load.counts;
  say(`kills: ${payins} payins by ${sent} requests, ${repeats} repeats; ${seconds.toFixed(0)} s`);
  return outcome.done();
}

class Hunt {
  readonly takeovers: TakeoverWatch;
  /** Processes and commands that could not be brought to their end. */
  readonly failures: string[] = [];
  readonly #cluster: Cluster;
  readonly #trial: Trial;
  readonly #random: Random;
  readonly #outages = new Outages();
  readonly #counts = new Map<string, number>();
  readonly #coming = new Set<Promise<void>>();
  readonly #away = new Set<Member>();
  #faults: Faults;

  constructor(cluster: Cluster, trial: Trial) {
    this.#cluster = cluster;
    this.#trial = trial;
    this.#random = trial.random.branch();
    this.takeovers = watchTakeovers(trial.stage, this.#outages);
    this.#faults = startFaults(trial.load.rails, trial.random.branch(), this.#outages);
  }

  async kill(count: number): Promise<void> {
    this.#await(this.#errands());
    for (let done = 0; done < count; ) {
      await sleep(this.#random.whole(100, 1000));
      const killed = await this.#one(this.#random.weighted(KINDS));
      if (killed) done += 1;
    }
  }

  /** Everybody is back, no fault stands, and all that was begun has ended. */
  async rest(): Promise<void> {
    await this.#faults.stop();
    await Promise.all(this.#coming);
    await this.#trial.drain();
  }

  goOn(): void {
    this.#trial.load.resume();
    this.#faults = startFaults(this.#trial.load.rails, this.#random.branch(), this.#outages);
  }

  async end(): Promise<void> {
    await this.#faults.stop();
    await this.takeovers.stop();
    await Promise.all(this.#coming);
  }

  told(): string {
    const kinds = [...this.#counts].map(([kind, count]) => `${count} ${kind}`).join(', ');
    const longest = (this.takeovers.longestMs / 1000).toFixed(1);
    return `${kinds}; longest until what was held went on: ${longest} s, outages included`;
  }

  async #one(kind: keyof typeof KINDS): Promise<boolean> {
    const { stage } = this.#trial;
    if (kind === 'database') return this.#crashDatabase();
    const ready = (kind === 'simulator' ? [stage.simulator] : [...stage.apis, ...stage.workers]).filter(
      (member) => !this.#away.has(member),
    );
    const victims = ready.toSorted(() => this.#random.fraction() - 0.5).slice(0, kind === 'two' ? 2 : 1);
    if (victims.length === 0) return false;
    for (const victim of victims) this.#come(victim, kind === 'failpoint' ? this.#failpointOf(victim) : null);
    this.#count(kind);
    return true;
  }

  /** Operators work meanwhile, and give a command again that failed. */
  async #errands(): Promise<void> {
    const { operator } = this.#trial;
    const deposit = operator.deposit();
    await insist(() => operator.give(deposit));
    const resolve = await insist(() => operator.resolve());
    if (resolve) await insist(() => operator.give(resolve));
    await insist(() => operator.give(operator.schedule('settlement')));
  }

  #await(work: Promise<void>): void {
    const awaited = work
      .catch((error: unknown) => {
        this.failures.push(error instanceof Error ? error.message : String(error));
      })
      .finally(() => this.#coming.delete(awaited));
    this.#coming.add(awaited);
  }

  /** Killed at once, or at a failpoint it soon passes; back as soon as it can be. */
  #come(victim: Member, failpoint: string | null): void {
    this.#away.add(victim);
    const end = victim.role === 'simulator' ? this.#outages.begin() : () => undefined;
    const back = (async () => {
      await victim.kill();
      this.takeovers.noteKill();
      if (failpoint !== null) {
        await victim.restart({ CAUDAL_FAILPOINT: failpoint }).catch(() => undefined);
        await Promise.race([victim.gone(), sleep(3000)]);
        await victim.kill();
        this.takeovers.noteKill();
      }
      await insist(() => victim.restart());
      // Let it take something up before it can be struck again.
      await sleep(this.#random.whole(300, 1500));
    })().finally(() => {
      end();
      this.#away.delete(victim);
    });
    this.#await(back);
  }

  #failpointOf(victim: Member): string {
    const names = Object.keys(PASSERS).filter((name) => PASSERS[name] === victim.role);
    const name = this.#random.pick(names as [string, ...string[]]);
    const sides = /^(?:BRE_B|PSE) /.test(name)
      ? ['before call', 'after call']
      : ['before commit', 'after commit'];
    const failpoint = `${name}: ${this.#random.pick(sides as [string, string])}`;
    return `${failpoint}#${this.#random.whole(1, passings(failpoint))}`;
  }

  async #crashDatabase(): Promise<boolean> {
    const end = this.#outages.begin();
    try {
      await this.#cluster.crash();
    } finally {
      end();
    }
    this.#count('database');
    return true;
  }

  #count(kind: string): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
  }
}

/** A server or a command that finds no database ends with an error and is started again, as whoever runs it would. */
async function insist<T>(work: () => Promise<T>): Promise<T> {
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
