import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientJournal } from '../clients/client-journal.ts';
import { WebhookClient } from '../clients/webhook-client.ts';
import { fillDirectory, fund } from '../load/payout-load.ts';
import { WebhookLoad } from '../load/webhook-load.ts';
import type { Random } from '../run/random.ts';
import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import type { Sinks } from '../webhooks/sinks.ts';

const FUNDS_IN_CENTS = 90_000_000_000;
const LANES = 24;
/** Average pause between two lifecycles of a lane. */
const LANE_PAUSE_MS = 1500;

/** A merchant that collects and pays out without pause, with an endpoint for all events. */
export class FailoverLoad {
  readonly #lifecycles: WebhookLoad;
  readonly #lanes: Promise<void>[] = [];
  #running = true;
  #started = 0;

  static async start(
    stack: Stack,
    journal: ClientJournal,
    rails: RailControl,
    sinks: Sinks,
    random: Random,
  ): Promise<FailoverLoad> {
    const deposit = { about: 'funds', amountInCents: FUNDS_IN_CENTS };
    const [payer] = await Promise.all([
      fund(stack, journal, stack.organization, deposit),
      fillDirectory(rails),
    ]);
    await new WebhookClient(stack, journal, sinks).create(stack.organization, 'all', null);
    const lifecycles = { payin: 60, payout: 40, link: 0 };
    return new FailoverLoad(new WebhookLoad(stack, journal, rails, [payer], lifecycles), random);
  }

  constructor(lifecycles: WebhookLoad, random: Random) {
    this.#lifecycles = lifecycles;
    for (let lane = 0; lane < LANES; lane += 1) this.#lanes.push(this.#run(random.branch()));
  }

  get counts(): WebhookLoad['counts'] {
    return this.#lifecycles.counts;
  }

  /** Resolves when no request is in flight. */
  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#lanes);
  }

  async #run(random: Random): Promise<void> {
    while (this.#running) {
      this.#started += 1;
      await this.#lifecycles.execute(random.branch(), `f${this.#started}`);
      await sleep(random.integer(0, 2 * LANE_PAUSE_MS));
    }
  }
}
