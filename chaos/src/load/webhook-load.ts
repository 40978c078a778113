import type { ClientJournal } from '../clients/client-journal.ts';
import { PayinClient } from '../clients/payin-client.ts';
import { PayoutClient } from '../clients/payout-client.ts';
import type { Random } from '../run/random.ts';
import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import { LinkLoad } from './link-load.ts';
import { actAsPayer, toRailReference } from './payer.ts';
import { planPayin } from './payin-plan.ts';
import { type Payer, PayoutLoad } from './payout-load.ts';
import { planPayout } from './payout-plan.ts';

/** Attempt numbers identify requests in the journal; each merchant's client has its own range. */
const ATTEMPTS_PER_CLIENT = 10_000_000;
/** Weights of the lifecycles. */
export type Lifecycles = Readonly<Record<'payin' | 'payout' | 'link', number>>;

/** Runs complete lifecycles of payins, payouts and links of several merchants; each ends with an event. */
export class WebhookLoad {
  readonly counts = { payins: 0, payouts: 0, links: 0 };
  readonly #rails: RailControl;
  readonly #payers: readonly [Payer, ...Payer[]];
  readonly #clients: readonly PayinClient[];
  readonly #payouts: PayoutLoad;
  readonly #links: LinkLoad;
  readonly #lifecycles: Lifecycles;

  constructor(
    stack: Stack,
    journal: ClientJournal,
    rails: RailControl,
    payers: readonly [Payer, ...Payer[]],
    lifecycles: Lifecycles,
  ) {
    this.#lifecycles = lifecycles;
    this.#rails = rails;
    this.#payers = payers;
    this.#clients = payers.map(
      (payer, index) => new PayinClient(journal, payer, stack.apis, index * ATTEMPTS_PER_CLIENT),
    );
    this.#links = new LinkLoad(stack, journal, rails);
    this.#payouts = new PayoutLoad({ client: new PayoutClient(journal, stack.apis), rails, payers });
  }

  async execute(random: Random, name: string): Promise<void> {
    switch (random.weighted(this.#lifecycles)) {
      case 'payin':
        return this.#payin(random, name);
      case 'link':
        this.counts.links += 1;
        return this.#links.execute(random, random.pick(this.#payers), name);
      case 'payout':
        this.counts.payouts += 1;
        return this.#payouts.execute(planPayout(random, name));
    }
  }

  openPages(): Promise<void> {
    return this.#links.openPages();
  }

  async #payin(random: Random, name: string): Promise<void> {
    this.counts.payins += 1;
    const which = random.integer(0, this.#payers.length - 1);
    const { request, magic } = planPayin(
      random,
      () => `key-${name}`,
      () => `order-${name}`,
      true,
    );
    const answer = await this.#clients[which]?.sendUntilAnswered(request, () => true);
    if (magic || !answer?.payin) return;
    const reference = toRailReference(answer.payin.id, this.#payers[which]?.number ?? 0);
    // The rails' control API may be down for a moment; the payer then gives up.
    await actAsPayer(this.#rails, random, answer.payin, reference).catch(() => undefined);
  }
}
