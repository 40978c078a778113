import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientJournal, openClientJournal } from '../clients/client-journal.ts';
import { PayoutClient } from '../clients/payout-client.ts';
import { EXECUTORS } from '../failpoints/plan.ts';
import { FaultInjection } from '../faults/fault-injection.ts';
import { Killer } from '../faults/killer.ts';
import { Outages } from '../faults/outages.ts';
import { type Faults, PAYOUT_CALLS, startFaults } from '../faults/rail-faults.ts';
import { fillDirectory, fund, type Payer, PayoutLoad } from '../load/payout-load.ts';
import { type PayoutPlan, planPayouts, UNDERFUNDED } from '../load/payout-plan.ts';
import { drainPayouts } from '../run/drain-payouts.ts';
import { type Random, randomFrom } from '../run/random.ts';
import type { Cluster } from '../stack/cluster.ts';
import { type RailControl, railControl } from '../stack/rail-control.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { payoutCounts } from './payout-counts.ts';
import { PayoutWatch } from './payout-watch.ts';

export interface PayoutRunOptions {
  /** Folder of a copy of the server to test instead of the server of this repository. */
  readonly serverRoot?: string;
  /** Disables kills and faults. */
  readonly faultFree?: boolean;
}

/** High enough that some lanes progress while others retry. */
const LANES = 64;
/** Average pause between two payouts of a lane; limits the load to about 30 payouts per second. */
const LANE_PAUSE_MS = 2000;
const CHECK_EVERY = 2500;
const KILL_WEIGHTS = { one: 50, two: 14, failpoint: 22, simulator: 9, database: 5 };
/** Seconds: past the settlement, the first poll, the time after which NOT_FOUND is conclusive, and a key resolution's validity. */
const SHIFTS = { '4': 40, '31': 25, '45': 22, '130': 9, '700': 4 };
/** Any other response to a valid request is a bug. */
const EXPECTED = /^(?:201|400 lookup_invalid|409 reference_taken)$/;
const EXPECTED_OF_CANCEL = /^(?:200|409 payout_already_sent|409 payout_ended)$/;
/** About seven of ten payouts can be confirmed. */
const MIN_CONFIRMED_SHARE = 0.4;

/** Transactions and rail calls on the path of a payout. */
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

/** Starts the stack with funded organizations and a directory; no payout starts yet. */
export async function startPayouts(
  cluster: Cluster,
  seed: number,
  count: number,
  { serverRoot, faultFree = false }: PayoutRunOptions = {},
): Promise<PayoutRun> {
  const random = randomFrom(seed);
  const plans = planPayouts(random.branch(), count);
  const stack = await startStack(cluster, {
    ...(serverRoot === undefined ? {} : { serverRoot }),
    // Leaves a moment in which a payout can be canceled, and spares the CPU from polling for work.
    settings: { CAUDAL_WORKER_POLL_MS: '120' },
  });
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-payouts-'));
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  const rails = railControl(stack.simulatorUrl);
  const close = async () => {
    journal.close();
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const [payers] = await Promise.all([fundAll(stack, journal, plans), fillDirectory(rails)]);
    return new PayoutRun({ cluster, stack, journal, rails, random, plans, payers, faultFree, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** Funds every organization for its payouts, except one that gets less than half. */
async function fundAll(
  stack: Stack,
  journal: ClientJournal,
  plans: readonly PayoutPlan[],
): Promise<[Payer, ...Payer[]]> {
  const needed = [0, 1, 2, 3].map((organization) =>
    plans
      .filter((plan) => plan.organization === organization && plan.receiver !== 'beyond_funds')
      .reduce((sum, { amountInCents }) => sum + amountInCents, 100_000),
  );
  const [first, ...others] = needed.map(async (cents, index) => {
    const organization = index === 0 ? stack.organization : await stack.newOrganization();
    const amountInCents = index === UNDERFUNDED ? Math.floor(cents * 0.45) : cents;
    return fund(stack, journal, organization, { about: `funds-${index}`, amountInCents });
  });
  if (!first) throw new Error('the run has no payer');
  return Promise.all([first, ...others]);
}

interface PayoutRunParts {
  readonly cluster: Cluster;
  readonly stack: Stack;
  readonly journal: ClientJournal;
  readonly rails: RailControl;
  readonly random: Random;
  readonly plans: readonly PayoutPlan[];
  readonly payers: readonly [Payer, ...Payer[]];
  readonly faultFree: boolean;
  readonly close: () => Promise<void>;
}

/** A stack that sends payouts while its processes die. */
export class PayoutRun {
  readonly stack: Stack;
  readonly journal: ClientJournal;
  readonly rails: RailControl;
  readonly client: PayoutClient;
  /** The last one cannot cover all its payouts. */
  readonly payers: readonly [Payer, ...Payer[]];
  readonly #parts: PayoutRunParts;
  readonly #load: PayoutLoad;
  readonly #watch: PayoutWatch;
  readonly #killer: Killer;
  readonly #outages = new Outages();
  readonly #faultInjection: FaultInjection;
  #faults: Faults | null = null;

  constructor(parts: PayoutRunParts) {
    const { cluster, stack, journal, rails, random, payers } = parts;
    this.#parts = parts;
    this.stack = stack;
    this.journal = journal;
    this.rails = rails;
    this.payers = payers;
    this.client = new PayoutClient(journal, stack.apis);
    this.#watch = new PayoutWatch(stack);
    this.#load = new PayoutLoad({
      client: this.client,
      rails,
      payers,
      onCreated: (id, plan) => {
        // An undecided order ends only when the load ends it.
        if (plan.receiver !== 'undecided') this.#watch.add(id);
      },
    });
    this.#killer = new Killer({
      cluster,
      stack,
      random: random.branch(),
      outages: this.#outages,
      weights: KILL_WEIGHTS,
      failpointsFor: (role) =>
        Object.keys(EXECUTORS).filter((name) => EXECUTORS[name] === role && FAILPOINTS.has(name)),
    });
    this.#faultInjection = new FaultInjection({
      stack,
      killer: this.#killer,
      shifts: SHIFTS,
      faultFree: parts.faultFree,
    });
  }

  /** Executes all plans. @param onCheck runs at intervals, at the latest halfway, while the load runs */
  async pay(onCheck: (done: number) => Promise<void>): Promise<void> {
    const { plans, random, rails, faultFree } = this.#parts;
    const [pace, shifts, faults, kills] = [
      random.branch(),
      random.branch(),
      random.branch(),
      random.branch(),
    ];
    if (!faultFree) this.#faults = startFaults(rails, faults, this.#outages, PAYOUT_CALLS);
    this.#faultInjection.start(shifts, kills);
    const waiting = plans[Symbol.iterator]();
    const checkEvery = Math.min(CHECK_EVERY, Math.ceil(plans.length / 2));
    let done = 0;
    const lane = async (random: Random) => {
      for (const plan of waiting) {
        await this.#load.execute(plan);
        done += 1;
        const now = done;
        if (now % checkEvery === 0 && now < plans.length)
          this.#faultInjection.scheduleCheck(() => onCheck(now));
        if (!faultFree) await sleep(random.integer(0, 2 * LANE_PAUSE_MS));
      }
    };
    await Promise.all(Array.from({ length: LANES }, () => lane(pace.branch())));
    await this.#faultInjection.end();
  }

  /** Restarts all processes, removes all faults and waits until every payout is final. */
  async drain(): Promise<void> {
    const { stack, rails } = this.#parts;
    await this.#faults?.stop();
    await this.#killer.allRestarted();
    await rails.clearFaults();
    await drainPayouts(stack, rails);
    await this.#watch.stop();
  }

  async failures(): Promise<string[]> {
    const { stack, plans, faultFree } = this.#parts;
    const unexpected = (request: string, counts: ReadonlyMap<string, number>, expected: RegExp) =>
      [...counts]
        .filter(([answer]) => !expected.test(answer))
        .map(([answer, count]) => `${request} was answered ${answer}, ${count} times`);
    const [row] = await stack.query<{ count: number }>(
      `select count(*)::int as count from caudal.payouts where status = 'CONFIRMED'`,
    );
    const confirmed = row?.count ?? 0;
    return [
      ...this.#killer.failures,
      ...unexpected('a payout', this.#load.answers, EXPECTED),
      ...unexpected('a cancel', this.#load.cancels, EXPECTED_OF_CANCEL),
      // A run without confirmed payouts or kills proves nothing.
      ...(confirmed < MIN_CONFIRMED_SHARE * plans.length ? [`only ${confirmed} payouts were confirmed`] : []),
      ...(!faultFree && this.#killer.counts.size === 0 ? ['no process was killed'] : []),
    ];
  }

  async summary(): Promise<string[]> {
    const { sent, repeats, unanswered } = this.client.counts;
    const { stack, plans, rails } = this.#parts;
    const injected = [...(this.#faults?.injected ?? [])];
    const faults = injected.reduce((sum, [, times]) => sum + times, 0);
    const kills = [...this.#killer.counts.values()].reduce((sum, times) => sum + times, 0);
    return [
      `${plans.length} payouts, ${sent} requests, ${repeats} repeats, ${unanswered} without a response`,
      ...(await payoutCounts(stack, rails)),
      `cancels: ${formatCounts(this.#load.cancels)}`,
      `${kills} kills (${this.#killer.summary()}), ${faults} faults (${formatCounts(new Map(injected))})`,
      await this.#watch.summary(),
    ];
  }

  async end(): Promise<void> {
    await this.#faults?.stop();
    await this.#killer.allRestarted();
    await this.#watch.stop();
    await this.#parts.close();
  }
}

function formatCounts(counts: ReadonlyMap<string, number>): string {
  return [...counts].map(([name, count]) => `${count} ${name}`).join(', ') || 'none';
}
