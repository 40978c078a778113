import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientJournal, openClientJournal } from '../clients/client-journal.ts';
import { WebhookClient } from '../clients/webhook-client.ts';
import { EXECUTORS } from '../failpoints/plan.ts';
import { FaultInjection } from '../faults/fault-injection.ts';
import { Killer } from '../faults/killer.ts';
import { Outages } from '../faults/outages.ts';
import { EVERY_CALL, type Faults, startFaults } from '../faults/rail-faults.ts';
import { type SinkFaults, startSinkFaults } from '../faults/sink-faults.ts';
import { fillDirectory, fund, type Payer } from '../load/payout-load.ts';
import { type Lifecycles, WebhookLoad } from '../load/webhook-load.ts';
import { drainPayins } from '../run/drain-payins.ts';
import { drainPayouts } from '../run/drain-payouts.ts';
import { drainWebhooks, findStalledQueues, reportsStalledQueues } from '../run/drain-webhooks.ts';
import { type Random, randomFrom } from '../run/random.ts';
import type { Cluster } from '../stack/cluster.ts';
import { type RailControl, railControl } from '../stack/rail-control.ts';
import { type Stack, startStack } from '../stack/stack.ts';
import { type Sinks, startSinks } from './sinks.ts';
import { webhookCounts } from './webhook-counts.ts';
import { MerchantEndpoints } from './webhook-endpoints.ts';

export interface WebhookRunOptions {
  /** Folder of a copy of the server to test instead of the server of this repository. */
  readonly serverRoot?: string;
  /** Disables kills and faults. */
  readonly faultFree?: boolean;
  /** Runs no payins and payouts, only links. */
  readonly onlyLinks?: boolean;
}

const LIFECYCLES: Lifecycles = { payin: 42, payout: 42, link: 16 };
const ONLY_LINKS: Lifecycles = { payin: 0, payout: 0, link: 1 };
const ORGANIZATIONS = 3;
const FUNDS_IN_CENTS = 90_000_000_000;
const LANES = 64;
/** Average pause between two lifecycles of a lane. */
const LANE_PAUSE_MS = 1600;
const CHECK_EVERY = 2500;
const KILL_WEIGHTS = { one: 56, two: 12, failpoint: 22, simulator: 4, database: 6 };
/** Seconds: past the first and second status poll, some retry delays and a payin's expiry. */
const SHIFTS = { '4': 40, '31': 25, '360': 20, '1900': 10, '3660': 8 };

/** Transactions on the path of an event. */
const FAILPOINTS: ReadonlySet<string> = new Set([
  'create payouts',
  'create links',
  'open attempt',
  'close link',
  'expire links',
  'apply notices',
  'apply statuses',
  'record attempts',
  'apply payout statuses',
  'dispatch events',
  'lease queues',
  'record deliveries',
  'manage endpoints',
  'replay events',
]);

/** Changes of endpoints, each after this share of the lifecycles. */
const ENDPOINT_CHANGES: readonly [number, (endpoints: MerchantEndpoints) => Promise<void>][] = [
  [0.35, (endpoints) => endpoints.pause()],
  [0.45, (endpoints) => endpoints.rotate()],
  [0.5, (endpoints) => endpoints.addLate()],
  [0.6, (endpoints) => endpoints.replayAndTest()],
  [0.75, (endpoints) => endpoints.resume()],
];

/** Starts the stack with funded merchants, their endpoints and sinks; no lifecycle starts yet. */
export async function startWebhooks(
  cluster: Cluster,
  seed: number,
  count: number,
  { serverRoot, faultFree = false, onlyLinks = false }: WebhookRunOptions = {},
): Promise<WebhookRun> {
  const stalledQueues: string[] = [];
  const stack = await startStack(cluster, {
    ...(serverRoot === undefined ? {} : { serverRoot }),
    settings: { CAUDAL_WORKER_POLL_MS: '60' },
    onLine: (line) => {
      if (reportsStalledQueues(line)) stalledQueues.push(line);
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-webhooks-'));
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  const rails = railControl(stack.simulatorUrl);
  let sinks: Sinks | null = null;
  const close = async () => {
    journal.close();
    await stack.stop();
    await sinks?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    sinks = await startSinks(folder);
    const client = new WebhookClient(stack, journal, sinks);
    const [payers] = await Promise.all([fundAll(stack, journal), fillDirectory(rails)]);
    const endpoints = payers.map((payer, index) => new MerchantEndpoints(client, payer, `m${index + 1}`));
    await Promise.all(endpoints.map((each) => each.start()));
    const random = randomFrom(seed);
    const parts = {
      cluster,
      stack,
      journal,
      rails,
      sinks,
      random,
      payers,
      endpoints,
      count,
      faultFree,
      onlyLinks,
    };
    return new WebhookRun({ ...parts, stalledQueues, close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function fundAll(stack: Stack, journal: ClientJournal): Promise<[Payer, ...Payer[]]> {
  const [first, ...others] = Array.from({ length: ORGANIZATIONS }, async (_, index) => {
    const organization = index === 0 ? stack.organization : await stack.newOrganization();
    return fund(stack, journal, organization, { about: `funds-${index}`, amountInCents: FUNDS_IN_CENTS });
  });
  if (!first) throw new Error('the run has no merchant');
  return Promise.all([first, ...others]);
}

interface WebhookRunParts {
  readonly cluster: Cluster;
  readonly stack: Stack;
  readonly journal: ClientJournal;
  readonly rails: RailControl;
  readonly sinks: Sinks;
  readonly random: Random;
  readonly payers: readonly [Payer, ...Payer[]];
  readonly endpoints: readonly MerchantEndpoints[];
  readonly count: number;
  readonly faultFree: boolean;
  readonly onlyLinks: boolean;
  /** Log lines that report stalled queues; there must be none. */
  readonly stalledQueues: string[];
  readonly close: () => Promise<void>;
}

/** A stack that delivers events to merchants while its processes die and the merchants' endpoints fail. */
export class WebhookRun {
  readonly stack: Stack;
  readonly journal: ClientJournal;
  readonly sinks: Sinks;
  readonly #parts: WebhookRunParts;
  readonly #load: WebhookLoad;
  readonly #killer: Killer;
  readonly #outages = new Outages();
  readonly #faultInjection: FaultInjection;
  #faults: Faults | null = null;
  #sinkFaults: SinkFaults | null = null;

  constructor(parts: WebhookRunParts) {
    const { cluster, stack, journal, rails, sinks, random, payers, onlyLinks } = parts;
    this.#parts = parts;
    this.stack = stack;
    this.journal = journal;
    this.sinks = sinks;
    this.#load = new WebhookLoad(stack, journal, rails, payers, onlyLinks ? ONLY_LINKS : LIFECYCLES);
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

  /** @param onCheck runs at intervals, at the latest halfway, while the load runs */
  async execute(onCheck: (done: number) => Promise<void>): Promise<void> {
    const { count, random, rails, sinks, endpoints, faultFree } = this.#parts;
    const [lifecycles, shifts, faults, sinkFaults, kills] = Array.from({ length: 5 }, () => random.branch());
    if (!lifecycles || !shifts || !faults || !sinkFaults || !kills)
      throw new Error('no random generator left');
    if (!faultFree) {
      this.#faults = startFaults(rails, faults, this.#outages, EVERY_CALL);
      const names = () => endpoints.flatMap((each) => each.sinks);
      this.#sinkFaults = startSinkFaults(sinks, sinkFaults, names);
    }
    this.#faultInjection.start(shifts, kills);
    const checkEvery = Math.min(CHECK_EVERY, Math.ceil(count / 2));
    let started = 0;
    let done = 0;
    const lane = async (random: Random) => {
      while (started < count) {
        started += 1;
        await this.#load.execute(random.branch(), `w${started}`);
        done += 1;
        this.#changeEndpoints(done);
        const now = done;
        if (now % checkEvery === 0 && now < count) this.#faultInjection.scheduleCheck(() => onCheck(now));
        if (!faultFree) await sleep(random.integer(0, 2 * LANE_PAUSE_MS));
      }
    };
    await Promise.all(Array.from({ length: Math.min(LANES, count) }, () => lane(lifecycles.branch())));
    await this.#faultInjection.end();
  }

  /** Restarts all processes, removes all faults and waits until everything has ended and is delivered. */
  async drain(): Promise<void> {
    const { stack, rails } = this.#parts;
    await Promise.all([this.#faults?.stop(), this.#sinkFaults?.stop()]);
    await this.#killer.allRestarted();
    await rails.clearFaults();
    await drainPayins(stack, rails);
    await drainPayouts(stack, rails);
    await drainWebhooks(stack);
    await this.#load.openPages();
    const stalled = await findStalledQueues(stack);
    if (stalled !== null) this.#parts.stalledQueues.push(stalled);
  }

  failures(): string[] {
    const { faultFree, stalledQueues } = this.#parts;
    return [
      ...this.#killer.failures,
      ...stalledQueues.map((line) => `stalled webhook queues: ${line}`),
      // A run without kills proves nothing.
      ...(!faultFree && this.#killer.counts.size === 0 ? ['no process was killed'] : []),
    ];
  }

  async summary(): Promise<string[]> {
    const { stack, sinks } = this.#parts;
    const { payins, payouts, links } = this.#load.counts;
    const kills = [...this.#killer.counts.values()].reduce((sum, times) => sum + times, 0);
    const atRails = [...(this.#faults?.injected.values() ?? [])].reduce((sum, times) => sum + times, 0);
    return [
      `${payins} payins, ${payouts} payouts and ${links} links`,
      ...(await webhookCounts(stack, sinks)),
      `${kills} kills (${this.#killer.summary() || 'none'}), ${atRails} rail faults`,
    ];
  }

  async end(): Promise<void> {
    await Promise.all([this.#faults?.stop(), this.#sinkFaults?.stop()]);
    await this.#killer.allRestarted();
    await this.#parts.close();
  }

  #changeEndpoints(done: number): void {
    const { endpoints, count } = this.#parts;
    for (const [share, act] of ENDPOINT_CHANGES)
      if (done === Math.ceil(share * count)) for (const each of endpoints) this.#killer.track(act(each));
  }
}
