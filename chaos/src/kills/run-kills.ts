import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from './cluster.ts';
import { PASSERS } from './failpoint-plan.ts';
import { EVERY_CALL, type Faults, startFaults } from './faults.ts';
import { DEATHS, insist, Killer } from './killer.ts';
import { Outages } from './outages.ts';
import { type Outcome, say, tally } from './outcome.ts';
import { restPayouts } from './payout-rest.ts';
import type { Random } from './random.ts';
import { type TakeoverWatch, watchTakeovers } from './takeover.ts';
import { startTrial, type Trial } from './trial.ts';

/** Nobody passes them where no merchant has endpoints or links. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  'record deliveries',
  'manage endpoints',
  'replay events',
  'create links',
  'open attempt',
  'attach payer',
  'expedite payment',
  'close link',
]);

const LOOK_EVERY = 25;
const DRAIN_EVERY = 125;

/** Kills processes at random moments under load and faults, and judges what is left every now and then. */
export async function runKills(cluster: Cluster, seed: number, count: number): Promise<Outcome> {
  const began = performance.now();
  say(`kills: ${count}, seed ${seed}`);
  const trial = await startTrial(cluster, seed, { payouts: true });
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
  const { payins, payouts, sent, repeats } = trial.load.counts;
  say(
    `kills: ${payins} payins and ${payouts} payouts by ${sent} requests, ${repeats} repeats; ${seconds.toFixed(0)} s`,
  );
  return outcome.done();
}

class Hunt {
  readonly takeovers: TakeoverWatch;
  readonly #trial: Trial;
  readonly #random: Random;
  readonly #killer: Killer;
  readonly #outages = new Outages();
  #faults: Faults;

  constructor(cluster: Cluster, trial: Trial) {
    this.#trial = trial;
    this.#random = trial.random.branch();
    this.takeovers = watchTakeovers(trial.stage, this.#outages);
    this.#faults = startFaults(trial.load.rails, trial.random.branch(), this.#outages, EVERY_CALL);
    this.#killer = new Killer({
      cluster,
      stage: trial.stage,
      random: this.#random,
      outages: this.#outages,
      weights: DEATHS,
      failpointsOf: (role) =>
        Object.keys(PASSERS).filter((name) => PASSERS[name] === role && !OF_OTHERS.has(name)),
      noteKill: () => this.takeovers.noteKill(),
    });
  }

  /** Processes and commands that could not be brought to their end. */
  get failures(): readonly string[] {
    return this.#killer.failures;
  }

  async kill(count: number): Promise<void> {
    this.#killer.follow(this.#errands());
    for (let done = 0; done < count; ) {
      await sleep(this.#random.whole(100, 1000));
      if (await this.#killer.kill()) done += 1;
    }
  }

  /** Everybody is back, no fault stands, and all that was begun has ended. */
  async rest(): Promise<void> {
    await this.#faults.stop();
    await this.#killer.allBack();
    await this.#trial.drain();
    await restPayouts(this.#trial.stage, this.#trial.load.rails);
  }

  goOn(): void {
    this.#trial.load.resume();
    this.#faults = startFaults(this.#trial.load.rails, this.#random.branch(), this.#outages, EVERY_CALL);
  }

  async end(): Promise<void> {
    await this.#faults.stop();
    await this.takeovers.stop();
    await this.#killer.allBack();
  }

  told(): string {
    const longest = (this.takeovers.longestMs / 1000).toFixed(1);
    return `${this.#killer.told()}; longest until what was held went on: ${longest} s, outages included`;
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
}
