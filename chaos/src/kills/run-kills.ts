import { setTimeout as sleep } from 'node:timers/promises';
import { EXECUTORS } from '../failpoints/plan.ts';
import { KILL_WEIGHTS, Killer, retryUntilDeadline } from '../faults/killer.ts';
import { Outages } from '../faults/outages.ts';
import { EVERY_CALL, type Faults, startFaults } from '../faults/rail-faults.ts';
import { drainPayouts } from '../run/drain-payouts.ts';
import { type Outcome, print, tally } from '../run/outcome.ts';
import type { Random } from '../run/random.ts';
import { startTrial, type Trial } from '../run/trial.ts';
import type { Cluster } from '../stack/cluster.ts';
import { type TakeoverWatch, watchTakeovers } from './takeover.ts';

/** Transactions that never run here, because no merchant has endpoints or links. */
const UNREACHED_TRANSACTIONS: ReadonlySet<string> = new Set([
  'record deliveries',
  'manage endpoints',
  'replay events',
  'create links',
  'open attempt',
  'attach payer',
  'expedite payment',
  'close link',
  'issue receipt',
  'queue receipt email',
  'send receipt emails',
]);

const CHECK_EVERY = 25;
const DRAIN_EVERY = 125;

/** Kills processes at random times under load and faults, and runs the checker at intervals. */
export async function runKills(cluster: Cluster, seed: number, count: number): Promise<Outcome> {
  const startedAt = performance.now();
  print(`kills: ${count}, seed ${seed}`);
  const trial = await startTrial(cluster, seed, { payouts: true });
  const outcome = tally();
  const killRun = new KillRun(cluster, trial);
  try {
    for (let kills = 0; kills < count; ) {
      const round = Math.min(CHECK_EVERY, count - kills);
      await killRun.kill(round);
      kills += round;
      const drained = kills % DRAIN_EVERY === 0 || kills === count;
      if (drained) await killRun.drain();
      const { ok, text } = await trial.runChecker(drained ? 'drained' : 'running');
      print(`  after ${kills} kills: ${text}`);
      if (ok) outcome.pass();
      else
        outcome.fail(
          `after ${kills} kills the checker found violations (seed ${seed}); journals: ${trial.keepJournals()}`,
        );
      if (!ok) break;
      if (drained && kills < count) killRun.resume();
    }
    for (const failure of killRun.failures) outcome.fail(failure);
    for (const late of killRun.takeovers.late) outcome.fail(`lease not taken over within 30 s: ${late}`);
    if (killRun.takeovers.late.length === 0) outcome.pass();
  } finally {
    await killRun.end();
    await trial.end();
  }
  print(`kills: ${killRun.summary()}`);
  const seconds = (performance.now() - startedAt) / 1000;
  const { payins, payouts, sent, repeats } = trial.load.counts;
  print(
    `kills: ${payins} payins and ${payouts} payouts by ${sent} requests, ${repeats} repeats; ${seconds.toFixed(0)} s`,
  );
  return outcome.done();
}

class KillRun {
  readonly takeovers: TakeoverWatch;
  readonly #trial: Trial;
  readonly #random: Random;
  readonly #killer: Killer;
  readonly #outages = new Outages();
  #faults: Faults;

  constructor(cluster: Cluster, trial: Trial) {
    this.#trial = trial;
    this.#random = trial.random.branch();
    this.takeovers = watchTakeovers(trial.stack, this.#outages);
    this.#faults = startFaults(trial.load.rails, trial.random.branch(), this.#outages, EVERY_CALL);
    this.#killer = new Killer({
      cluster,
      stack: trial.stack,
      random: this.#random,
      outages: this.#outages,
      weights: KILL_WEIGHTS,
      failpointsFor: (role) =>
        Object.keys(EXECUTORS).filter(
          (name) => EXECUTORS[name] === role && !UNREACHED_TRANSACTIONS.has(name),
        ),
      noteKill: () => this.takeovers.noteKill(),
    });
  }

  /** Processes and commands that never succeeded. */
  get failures(): readonly string[] {
    return this.#killer.failures;
  }

  async kill(count: number): Promise<void> {
    this.#killer.track(this.#runOperatorCommands());
    for (let done = 0; done < count; ) {
      await sleep(this.#random.integer(100, 1000));
      if (await this.#killer.kill()) done += 1;
    }
  }

  /** Restarts all processes, removes all faults and waits until all work has ended. */
  async drain(): Promise<void> {
    await this.#faults.stop();
    await this.#killer.allRestarted();
    await this.#trial.drain();
    await drainPayouts(this.#trial.stack, this.#trial.load.rails);
  }

  resume(): void {
    this.#trial.load.resume();
    this.#faults = startFaults(this.#trial.load.rails, this.#random.branch(), this.#outages, EVERY_CALL);
  }

  async end(): Promise<void> {
    await this.#faults.stop();
    await this.takeovers.stop();
    await this.#killer.allRestarted();
  }

  summary(): string {
    const longest = (this.takeovers.longestMs / 1000).toFixed(1);
    return `${this.#killer.summary()}; longest lease takeover: ${longest} s, outages included`;
  }

  /** Runs operator commands during the kills and repeats those that fail. */
  async #runOperatorCommands(): Promise<void> {
    const { operator } = this.#trial;
    const deposit = operator.deposit();
    await retryUntilDeadline(() => operator.run(deposit));
    const resolve = await retryUntilDeadline(() => operator.resolve());
    if (resolve) await retryUntilDeadline(() => operator.run(resolve));
    await retryUntilDeadline(() => operator.run(operator.schedule('settlement')));
  }
}
