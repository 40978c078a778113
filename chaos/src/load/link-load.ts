import type { ClientJournal } from './client-journal.ts';
import { LinkClient, type MerchantLink } from './link-client.ts';
import { actAsPayer, pseReferenceOf } from './payer.ts';
import type { Payer } from './payout-load.ts';
import type { RailControl } from './rail-control.ts';
import type { Random } from './random.ts';
import type { Stage } from './stage.ts';

const COURSES = {
  'is paid or not': 46,
  'is begun twice at once': 14,
  'changes its method': 14,
  'is closed meanwhile': 14,
  'is left alone': 12,
};
/** A payer whose attempt came to nothing tries again. */
const MOST_ATTEMPTS = 2;

/** Links, tried by payers in every way there is. */
export class LinkLoad {
  readonly #client: LinkClient;
  readonly #rails: RailControl;

  constructor(stage: Stage, journal: ClientJournal, rails: RailControl) {
    this.#client = new LinkClient(stage, journal);
    this.#rails = rails;
  }

  async live(random: Random, merchant: Payer, name: string): Promise<void> {
    const link = await this.#client.create(merchant, {
      name: `link-${name}`,
      amountInCents: random.whole(150_000, 90_000_000),
      hasCustomer: random.chance(0.7),
    });
    const course = random.weighted(COURSES);
    if (course === 'is left alone') return;
    if (course === 'changes its method') {
      await this.#client.begin(link, 'BRE_B');
      await this.#client.change(link);
    }
    for (let attempts = 0; attempts < MOST_ATTEMPTS; attempts += 1) {
      await this.#begin(random, link, course === 'is begun twice at once');
      await Promise.all([
        this.#pay(random.branch(), link, merchant.number),
        course === 'is closed meanwhile' && this.#client.close(link),
      ]);
    }
  }

  async #begin(random: Random, link: MerchantLink, twice: boolean): Promise<void> {
    const rail = () => (random.chance(0.6) ? 'BRE_B' : 'PSE');
    await Promise.all(Array.from({ length: twice ? 2 : 1 }, () => this.#client.begin(link, rail())));
  }

  /** The rails' door may be shut for a moment: then the payer leaves. */
  async #pay(random: Random, link: MerchantLink, organizationNumber: number): Promise<void> {
    const attempt = await this.#client.attempt(link);
    if (!attempt) return;
    const reference = pseReferenceOf(attempt.id, organizationNumber);
    await actAsPayer(this.#rails, random, attempt, reference).catch(() => undefined);
  }
}
