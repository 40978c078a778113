import type { ClientJournal } from '../clients/client-journal.ts';
import { LinkClient, type MerchantLink } from '../clients/link-client.ts';
import type { Random } from '../run/random.ts';
import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import { actAsPayer, toRailReference } from './payer.ts';
import type { Payer } from './payout-load.ts';

const BEHAVIORS = {
  paid_or_abandoned: 46,
  started_concurrently: 14,
  method_changed: 14,
  closed_meanwhile: 14,
  untouched: 12,
};
/** A payer whose attempt failed tries again. */
const MAX_ATTEMPTS = 2;

/** Runs lifecycles of links, with payers that behave in every possible way. */
export class LinkLoad {
  readonly #client: LinkClient;
  readonly #rails: RailControl;

  constructor(stack: Stack, journal: ClientJournal, rails: RailControl) {
    this.#client = new LinkClient(stack, journal);
    this.#rails = rails;
  }

  async execute(random: Random, merchant: Payer, name: string): Promise<void> {
    const link = await this.#client.create(merchant, {
      name: `link-${name}`,
      amountInCents: random.integer(150_000, 90_000_000),
      hasCustomer: random.chance(0.7),
    });
    const behavior = random.weighted(BEHAVIORS);
    if (behavior === 'untouched') return;
    if (behavior === 'method_changed') {
      await this.#client.start(link, 'BRE_B');
      await this.#client.change(link);
    }
    for (let attempts = 0; attempts < MAX_ATTEMPTS; attempts += 1) {
      await this.#start(random, link, behavior === 'started_concurrently');
      await Promise.all([
        this.#pay(random.branch(), link, merchant.number),
        behavior === 'closed_meanwhile' && this.#client.close(link),
      ]);
    }
  }

  async #start(random: Random, link: MerchantLink, twice: boolean): Promise<void> {
    const rail = () => (random.chance(0.6) ? 'BRE_B' : 'PSE');
    await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => this.#client.start(link, rail())));
  }

  /** The rails' control API may be down for a moment; the payer then gives up. */
  async #pay(random: Random, link: MerchantLink, organizationNumber: number): Promise<void> {
    const attempt = await this.#client.attempt(link);
    if (!attempt) return;
    const reference = toRailReference(attempt.id, organizationNumber);
    await actAsPayer(this.#rails, random, attempt, reference).catch(() => undefined);
  }
}
