import { Client } from './client.ts';
import type { ClientJournal } from './client-journal.ts';
import { LinkLoad } from './link-load.ts';
import { actAsPayer, pseReferenceOf } from './payer.ts';
import { planPayin } from './payin-plan.ts';
import { PayoutClient } from './payout-client.ts';
import { type Payer, PayoutLoad } from './payout-load.ts';
import { planPayout } from './payout-plan.ts';
import type { RailControl } from './rail-control.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

/** Requests of a journal are told apart by their number, and each merchant's client counts from its own. */
const ATTEMPTS_OF_A_CLIENT = 10_000_000;
const LIVES = { payin: 42, payout: 42, link: 16 };

/** Lives that end, each with an event: payins, payouts and links of several merchants, mixed. */
export class WebhookLoad {
  readonly counts = { payins: 0, payouts: 0, links: 0 };
  readonly #rails: RailControl;
  readonly #payers: readonly [Payer, ...Payer[]];
  readonly #clients: readonly Client[];
  readonly #payouts: PayoutLoad;
  readonly #links: LinkLoad;

  constructor(
    stage: Stage,
    journal: ClientJournal,
    rails: RailControl,
    payers: readonly [Payer, ...Payer[]],
  ) {
    this.#rails = rails;
    this.#payers = payers;
    this.#clients = payers.map(
      (payer, index) => new Client(journal, payer, stage.apis, index * ATTEMPTS_OF_A_CLIENT),
    );
    this.#links = new LinkLoad(stage, journal, rails);
    this.#payouts = new PayoutLoad({ client: new PayoutClient(journal, stage.apis), rails, payers });
  }

  async live(random: Random, name: string): Promise<void> {
    switch (random.weighted(LIVES)) {
      case 'payin':
        return this.#payin(random, name);
      case 'link':
        this.counts.links += 1;
        return this.#links.live(random, random.pick(this.#payers), name);
      case 'payout':
        this.counts.payouts += 1;
        return this.#payouts.carryOut(planPayout(random, name));
    }
  }

  async #payin(random: Random, name: string): Promise<void> {
    this.counts.payins += 1;
    const which = random.whole(0, this.#payers.length - 1);
    const { request, magic } = planPayin(
      random,
      () => `key-${name}`,
      () => `order-${name}`,
      true,
    );
    const answer = await this.#clients[which]?.insist(request, () => true);
    if (magic || !answer?.payin) return;
    const reference = pseReferenceOf(answer.payin.id, this.#payers[which]?.number ?? 0);
    // The rails' door may be shut for a moment: then the payer leaves.
    await actAsPayer(this.#rails, random, answer.payin, reference).catch(() => undefined);
  }
}
