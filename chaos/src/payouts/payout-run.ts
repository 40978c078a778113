import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientJournal, openClientJournal } from './client-journal.ts';
import type { Cluster } from './cluster.ts';
import { PASSERS } from './failpoint-plan.ts';
import { FaultInjection } from './fault-injection.ts';
import { type Faults, PAYOUT_CALLS, startFaults } from './faults.ts';
import { Killer } from './killer.ts';
import { Outages } from './outages.ts';
import { PayoutClient } from './payout-client.ts';
import { payoutCounts } from './payout-counts.ts';
import { fillDirectory, fund, type Payer, PayoutLoad } from './payout-load.ts';
import { type PayoutPlan, planPayouts, SHORT_OF_FUNDS } from './payout-plan.ts';
import { restPayouts } from './payout-rest.ts';
import { PayoutWatch } from './payout-watch.ts';
import { type RailControl, railControl } from './rail-control.ts';
import { type Random, randomFrom } from './random.ts';
import { type Stage, startStage } from './stage.ts';

export interface PayoutRunOptions {
  /** Folder of a copy of the server that is to be judged instead of this tree's. */
  readonly serverRoot?: string;
  /** Nothing is killed and no fault strikes. */
  readonly calm?: boolean;
}

/** So many that some go on while others insist on an answer. */
const LANES = 64;
/** Between two payouts of a lane, on average; with the lanes, about 30 payouts a second at most. */
const LANE_RESTS_MS = 2000;
const LOOK_EVERY = 2500;
const DEATHS = { one: 50, two: 14, failpoint: 22, simulator: 9, database: 5 };
/** Seconds: past the settlement, the first question, the time after which "no such order" counts, a directory's promise. */
const SHIFTS = { '4': 40, '31': 25, '45': 22, '130': 9, '700': 4 };
/** Whatever else a merchant is told about a valid request is a mistake. */
const EXPECTED = /^(?:201|400 lookup_invalid|409 reference_taken)$/;
const EXPECTED_OF_CANCEL = /^(?:200|409 payout_already_sent|409 payout_ended)$/;
/** Of ten payouts about seven can be confirmed. */
const FEWEST_CONFIRMED = 0.4;

/** Where payouts pass. */
const FAILPOINTS: ReadonlySet<string> = new Set([
  'create payouts',
  'cancel payout',
  'take lookup',
  'record lookup',
  'store notices',
  'BRE_B resolve',
  'commit attempts',
  'BRE_B pay',
  'record attempts',
  'lease payout polls',
  'BRE_B queryOrders',
  'apply payout statuses',
  'apply notices',
  'lease unverified notices',
  'apply verified notices',
  'lease resolutions',
  'refresh resolutions',
]);

/** Starts the stage with funded organizations and a directory; nothing is paid yet. */
export async function startPayouts(
  cluster: Cluster,
  seed: number,
  count: number,
  { serverRoot, calm = false }: PayoutRunOptions = {},
): Promise<PayoutRun> {
  const random = randomFrom(seed);
  const plans = planPayouts(random.branch(), count);
  const stage = await startStage(cluster, {
    ...(serverRoot === undefined ? {} : { serverRoot }),
    // A moment in which a payout can still be canceled, and two cores that do something else than look for work.
    settings: { CAUDAL_WORKER_POLL_MS: '120' },
  });
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-payouts-'));
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  const rails = railControl(stage.simulatorUrl);
  const close = async () => {
    journal.close();
    await stage.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [payers] = await Promise.all([fundAll(stage, journal, plans), fillDirectory(rails)]);
    return new PayoutRun({ cluster, stage, journal, rails, random, plans, payers, calm, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Enough for every payout that can be covered at all; one of them has less than half. */
async function fundAll(
  stage: Stage,
  journal: ClientJournal,
  plans: readonly PayoutPlan[],
): Promise<[Payer, ...Payer[]]> {
  const needed = [0, 1, 2, 3].map((organization) =>
    plans
      .filter((plan) => plan.organization === organization && plan.receiver !== 'beyond funds')
      .reduce((sum, { amountInCents }) => sum + amountInCents, 100_000),
  );
  const [first, ...others] = needed.map(async (cents, index) => {
    const organization = index === 0 ? stage.organization : await stage.newOrganization();
    const amountInCents = index === SHORT_OF_FUNDS ? Math.floor(cents * 0.45) : cents;
    return fund(stage, journal, organization, { about: `funds-${index}`, amountInCents });
  });
  if (!first) throw new Error('nobody pays');
  return Promise.all([first, ...others]);
}

interface PayoutRunParts {
  readonly cluster: Cluster;
  readonly stage: Stage;
  readonly journal: ClientJournal;
  readonly rails: RailControl;
  readonly random: Random;
  readonly plans: readonly PayoutPlan[];
  readonly payers: readonly [Payer, ...Payer[]];
  readonly calm: boolean;
  readonly close: () => Promise<void>;
}

/** A stage whose merchants pay while its processes die. */
export class PayoutRun {
  readonly stage: Stage;
  readonly journal: ClientJournal;
  readonly rails: RailControl;
  readonly client: PayoutClient;
  /** The last has less than it is asked to pay. */
  readonly payers: readonly [Payer, ...Payer[]];
  readonly #parts: PayoutRunParts;
  readonly #load: PayoutLoad;
  readonly #watch: PayoutWatch;
  readonly #killer: Killer;
  readonly #outages = new Outages();
  readonly #faultInjection: FaultInjection;
  #faults: Faults | null = null;

  constructor(parts: PayoutRunParts) {
    const { cluster, stage, journal, rails, random, payers } = parts;
    this.#parts = parts;
    this.stage = stage;
    this.journal = journal;
    this.rails = rails;
    this.payers = payers;
    this.client = new PayoutClient(journal, stage.apis);
    this.#watch = new PayoutWatch(stage);
    this.#load = new PayoutLoad({
      client: this.client,
      rails,
      payers,
      onCreated: (id, plan) => {
        // Of the others the network says nothing until it is told to.
        if (plan.receiver !== 'undecided') this.#watch.note(id);
      },
    });
    this.#killer = new Killer({
      cluster,
      stage,
      random: random.branch(),
      outages: this.#outages,
      weights: DEATHS,
      failpointsOf: (role) =>
        Object.keys(PASSERS).filter((name) => PASSERS[name] === role && FAILPOINTS.has(name)),
    });
    this.#faultInjection = new FaultInjection({
      stage,
      killer: this.#killer,
      shifts: SHIFTS,
      calm: parts.calm,
    });
  }

  /** Carries all plans out. @param onLook now and then, half way at the latest, while everything goes on */
  async pay(onLook: (done: number) => Promise<void>): Promise<void> {
    const { plans, random, rails, calm } = this.#parts;
    const [pace, shifts, faults, kills] = [
      random.branch(),
      random.branch(),
      random.branch(),
      random.branch(),
    ];
    if (!calm) this.#faults = startFaults(rails, faults, this.#outages, PAYOUT_CALLS);
    this.#faultInjection.begin(shifts, kills);
    const waiting = plans[Symbol.iterator]();
    const lookEvery = Math.min(LOOK_EVERY, Math.ceil(plans.length / 2));
    let done = 0;
    const lane = async (random: Random) => {
      for (const plan of waiting) {
        await this.#load.carryOut(plan);
        done += 1;
        const now = done;
        if (now % lookEvery === 0 && now < plans.length) this.#faultInjection.look(() => onLook(now));
        if (!calm) await sleep(random.whole(0, 2 * LANE_RESTS_MS));
      }
    };
    await Promise.all(Array.from({ length: LANES }, () => lane(pace.branch())));
    await this.#faultInjection.end();
  }

  /** Everybody is back, no fault stands, and every payout is final. */
  async rest(): Promise<void> {
    const { stage, rails } = this.#parts;
    await this.#faults?.stop();
    await this.#killer.allBack();
    await rails.clearFaults();
    await restPayouts(stage, rails);
    await this.#watch.stop();
  }

  async failures(): Promise<string[]> {
    const { stage, plans, calm } = this.#parts;
    const told = (what: string, counts: ReadonlyMap<string, number>, expected: RegExp) =>
      [...counts]
        .filter(([answer]) => !expected.test(answer))
        .map(([answer, count]) => `${what} was answered ${answer}, ${count} times`);
    const [row] = await stage.query<{ count: number }>(
      `select count(*)::int as count from caudal.payouts where status = 'CONFIRMED'`,
    );
    const confirmed = row?.count ?? 0;
    return [
      ...this.#killer.failures,
      ...told('a payout', this.#load.answers, EXPECTED),
      ...told('a cancel', this.#load.cancels, EXPECTED_OF_CANCEL),
      // A run in which nothing happened proves nothing.
      ...(confirmed < FEWEST_CONFIRMED * plans.length ? [`no more than ${confirmed} were confirmed`] : []),
      ...(!calm && this.#killer.counts.size === 0 ? ['nothing was killed'] : []),
    ];
  }

  async told(): Promise<string[]> {
    const { sent, repeats, unanswered } = this.client.counts;
    const { stage, plans, rails } = this.#parts;
    const struck = [...(this.#faults?.struck ?? [])];
    const faults = struck.reduce((sum, [, times]) => sum + times, 0);
    const kills = [...this.#killer.counts.values()].reduce((sum, times) => sum + times, 0);
    return [
      `${plans.length} by ${sent} requests, ${repeats} repeats sent, ${unanswered} without an answer`,
      ...(await payoutCounts(stage, rails)),
      `cancels: ${listed(this.#load.cancels)}`,
      `${kills} kills (${this.#killer.told()}), ${faults} faults (${listed(new Map(struck))})`,
      await this.#watch.told(),
    ];
  }

  async end(): Promise<void> {
    await this.#faults?.stop();
    await this.#killer.allBack();
    await this.#watch.stop();
    await this.#parts.close();
  }
}

function listed(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ') || 'none';
}
