import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientJournal, openClientJournal } from './client-journal.ts';
import type { Cluster } from './cluster.ts';
import { PASSERS } from './failpoint-plan.ts';
import { FaultInjection } from './fault-injection.ts';
import { EVERY_CALL, type Faults, startFaults } from './faults.ts';
import { Killer } from './killer.ts';
import { Outages } from './outages.ts';
import { restPayins } from './payin-rest.ts';
import { fillDirectory, fund, type Payer } from './payout-load.ts';
import { restPayouts } from './payout-rest.ts';
import { type RailControl, railControl } from './rail-control.ts';
import { type Random, randomFrom } from './random.ts';
import { type Sinks, startSinks } from './sinks.ts';
import { type Stage, startStage } from './stage.ts';
import { WebhookClient } from './webhook-client.ts';
import { webhookCounts } from './webhook-counts.ts';
import { MerchantEndpoints } from './webhook-endpoints.ts';
import { type SinkFaults, startSinkFaults } from './webhook-faults.ts';
import { WebhookLoad } from './webhook-load.ts';
import { forgottenLines, isAlarm, restWebhooks } from './webhook-rest.ts';

export interface WebhookRunOptions {
  /** Folder of a copy of the server that is to be judged instead of this tree's. */
  readonly serverRoot?: string;
  /** Nothing is killed and no fault strikes. */
  readonly calm?: boolean;
}

const ORGANIZATIONS = 3;
const FUNDS_IN_CENTS = 90_000_000_000;
const LANES = 64;
/** Between two lives of a lane, on average. */
const LANE_RESTS_MS = 1600;
const LOOK_EVERY = 2500;
const DEATHS = { one: 56, two: 12, failpoint: 22, simulator: 4, database: 6 };
/** Seconds: past the first question, the second, a payin's expiry, some delays between attempts. */
const SHIFTS = { '4': 40, '31': 25, '360': 20, '1900': 10, '3660': 8 };

/** Where events pass on their way. */
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

/** What is done to endpoints, when this share of the lives is over. */
const MEDDLING: readonly [number, (endpoints: MerchantEndpoints) => Promise<void>][] = [
  [0.35, (endpoints) => endpoints.pause()],
  [0.45, (endpoints) => endpoints.rotate()],
  [0.5, (endpoints) => endpoints.addLate()],
  [0.6, (endpoints) => endpoints.meddle()],
  [0.75, (endpoints) => endpoints.resume()],
];

/** Starts the stage with merchants, their money, their endpoints and what is behind them; nothing lives yet. */
export async function startWebhooks(
  cluster: Cluster,
  seed: number,
  count: number,
  { serverRoot, calm = false }: WebhookRunOptions = {},
): Promise<WebhookRun> {
  const alarms: string[] = [];
  const stage = await startStage(cluster, {
    ...(serverRoot === undefined ? {} : { serverRoot }),
    settings: { CAUDAL_WORKER_POLL_MS: '60' },
    onLine: (line) => {
      if (isAlarm(line)) alarms.push(line);
    },
  });
  const folder = mkdtempSync(join(tmpdir(), 'caudal-chaos-webhooks-'));
  const journal = openClientJournal(join(folder, 'client.jsonl'));
  const rails = railControl(stage.simulatorUrl);
  let sinks: Sinks | null = null;
  const close = async () => {
    journal.close();
    await stage.stop();
    await sinks?.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    sinks = await startSinks(folder);
    const client = new WebhookClient(stage, journal, sinks);
    const [payers] = await Promise.all([fundAll(stage, journal), fillDirectory(rails)]);
    const endpoints = payers.map((payer, index) => new MerchantEndpoints(client, payer, `m${index + 1}`));
    await Promise.all(endpoints.map((each) => each.begin()));
    const random = randomFrom(seed);
    const parts = { cluster, stage, journal, rails, sinks, random, payers, endpoints, count, calm, alarms };
    return new WebhookRun({ ...parts, close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function fundAll(stage: Stage, journal: ClientJournal): Promise<[Payer, ...Payer[]]> {
  const [first, ...others] = Array.from({ length: ORGANIZATIONS }, async (_, index) => {
    const organization = index === 0 ? stage.organization : await stage.newOrganization();
    return fund(stage, journal, organization, { about: `funds-${index}`, amountInCents: FUNDS_IN_CENTS });
  });
  if (!first) throw new Error('there is no merchant');
  return Promise.all([first, ...others]);
}

interface WebhookRunParts {
  readonly cluster: Cluster;
  readonly stage: Stage;
  readonly journal: ClientJournal;
  readonly rails: RailControl;
  readonly sinks: Sinks;
  readonly random: Random;
  readonly payers: readonly [Payer, ...Payer[]];
  readonly endpoints: readonly MerchantEndpoints[];
  readonly count: number;
  readonly calm: boolean;
  /** What the servers said and must never have to say. */
  readonly alarms: string[];
  readonly close: () => Promise<void>;
}

/** A stage whose merchants are told of everything that ends, while its processes die and their own misbehave. */
export class WebhookRun {
  readonly stage: Stage;
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
    const { cluster, stage, journal, rails, sinks, random, payers } = parts;
    this.#parts = parts;
    this.stage = stage;
    this.journal = journal;
    this.sinks = sinks;
    this.#load = new WebhookLoad(stage, journal, rails, payers);
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

  /** @param onLook now and then, half way at the latest, while everything goes on */
  async live(onLook: (done: number) => Promise<void>): Promise<void> {
    const { count, random, rails, sinks, endpoints, calm } = this.#parts;
    const [lives, shifts, faults, sinkFaults, kills] = Array.from({ length: 5 }, () => random.branch());
    if (!lives || !shifts || !faults || !sinkFaults || !kills) throw new Error('chance has run out');
    if (!calm) {
      this.#faults = startFaults(rails, faults, this.#outages, EVERY_CALL);
      const names = () => endpoints.flatMap((each) => each.sinks);
      this.#sinkFaults = startSinkFaults(sinks, sinkFaults, names);
    }
    this.#faultInjection.begin(shifts, kills);
    const lookEvery = Math.min(LOOK_EVERY, Math.ceil(count / 2));
    let begun = 0;
    let done = 0;
    const lane = async (random: Random) => {
      while (begun < count) {
        begun += 1;
        await this.#load.live(random.branch(), `w${begun}`);
        done += 1;
        this.#meddle(done);
        const now = done;
        if (now % lookEvery === 0 && now < count) this.#faultInjection.look(() => onLook(now));
        if (!calm) await sleep(random.whole(0, 2 * LANE_RESTS_MS));
      }
    };
    await Promise.all(Array.from({ length: Math.min(LANES, count) }, () => lane(lives.branch())));
    await this.#faultInjection.end();
  }

  /** Everybody is back, no fault stands, everything has ended and everybody was told. */
  async rest(): Promise<void> {
    const { stage, rails } = this.#parts;
    await Promise.all([this.#faults?.stop(), this.#sinkFaults?.stop()]);
    await this.#killer.allBack();
    await rails.clearFaults();
    await restPayins(stage, rails);
    await restPayouts(stage, rails);
    await restWebhooks(stage);
    const forgotten = await forgottenLines(stage);
    if (forgotten !== null) this.#parts.alarms.push(forgotten);
  }

  failures(): string[] {
    const { calm, alarms } = this.#parts;
    return [
      ...this.#killer.failures,
      ...alarms.map((line) => `a server said: ${line}`),
      // A run in which nothing happened proves nothing.
      ...(!calm && this.#killer.counts.size === 0 ? ['nothing was killed'] : []),
    ];
  }

  async told(): Promise<string[]> {
    const { stage, sinks } = this.#parts;
    const { payins, payouts, links } = this.#load.counts;
    const kills = [...this.#killer.counts.values()].reduce((sum, times) => sum + times, 0);
    const atRails = [...(this.#faults?.struck.values() ?? [])].reduce((sum, times) => sum + times, 0);
    return [
      `${payins} payins, ${payouts} payouts and ${links} links`,
      ...(await webhookCounts(stage, sinks)),
      `${kills} kills (${this.#killer.told() || 'none'}), ${atRails} faults of rails`,
    ];
  }

  async end(): Promise<void> {
    await Promise.all([this.#faults?.stop(), this.#sinkFaults?.stop()]);
    await this.#killer.allBack();
    await this.#parts.close();
  }

  #meddle(done: number): void {
    const { endpoints, count } = this.#parts;
    for (const [share, act] of MEDDLING)
      if (done === Math.ceil(share * count)) for (const each of endpoints) this.#killer.follow(act(each));
  }
}
