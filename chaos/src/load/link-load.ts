import { setTimeout as sleep } from 'node:timers/promises';
import type { ClientJournal } from '../clients/client-journal.ts';
import { LinkClient, type MerchantLink } from '../clients/link-client.ts';
import { PageVisitor } from '../clients/page-visitor.ts';
import type { Random } from '../run/random.ts';
import type { RailControl } from '../stack/rail-control.ts';
import type { Stack } from '../stack/stack.ts';
import { actAsPayer, payPart, payRest, toRailReference } from './payer.ts';
import type { Payer } from './payout-load.ts';

const BEHAVIORS = {
  paid_or_abandoned: 34,
  paid_in_parts: 14,
  on_both_rails: 12,
  started_concurrently: 10,
  method_changed: 10,
  closed_meanwhile: 10,
  untouched: 10,
};
/** A payer whose attempt failed tries again. */
const MAX_ATTEMPTS = 2;
const MAX_PARTS = 3;
/** Browsers show the page at most this long after the payer's last act. */
const LINGER_MS = 4000;

/** Runs lifecycles of links, with payers that behave in every possible way. */
export class LinkLoad {
  readonly #client: LinkClient;
  readonly #visitor: PageVisitor;
  readonly #rails: RailControl;
  readonly #links: MerchantLink[] = [];

  constructor(stack: Stack, journal: ClientJournal, rails: RailControl) {
    this.#client = new LinkClient(stack, journal);
    this.#visitor = new PageVisitor(stack, journal);
    this.#rails = rails;
  }

  /** The payer's browser and another one show the page while the payer acts. */
  async execute(random: Random, merchant: Payer, name: string): Promise<void> {
    const link = await this.#create(random, merchant, name);
    this.#links.push(link);
    const done = new AbortController();
    const browsers = [() => this.#client.cookie(link), () => undefined].map((cookie) =>
      this.#visitor.keepOpen(random.branch(), link, cookie, done.signal),
    );
    try {
      await this.#act(random, merchant, link);
      await sleep(random.integer(0, LINGER_MS));
    } finally {
      done.abort();
      await Promise.all(browsers);
    }
  }

  /** Opens the page of every link in both browsers. */
  async openPages(): Promise<void> {
    for (const link of this.#links)
      for (const cookie of [this.#client.cookie(link), undefined]) await this.#visitor.open(link, cookie);
  }

  #create(random: Random, merchant: Payer, name: string): Promise<MerchantLink> {
    return this.#client.create(merchant, {
      name: `link-${name}`,
      amountInCents: random.integer(150_000, 90_000_000),
      hasCustomer: random.chance(0.7),
    });
  }

  async #act(random: Random, merchant: Payer, link: MerchantLink): Promise<void> {
    const behavior = random.weighted(BEHAVIORS);
    if (behavior === 'untouched') return;
    if (behavior === 'paid_in_parts') return this.#payInParts(random, link);
    if (behavior === 'on_both_rails') return this.#payOnBothRails(random, link, merchant.number);
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

  /** Pays a share of each attempt, and the last one in full. An outage may leave the link unfinished. */
  async #payInParts(random: Random, link: MerchantLink): Promise<void> {
    const parts = random.integer(2, MAX_PARTS);
    for (let part = 1; part <= parts; part += 1) {
      await this.#client.start(link, 'BRE_B');
      const attempt = await this.#client.attempt(link);
      if (!attempt) return;
      const paying = part < parts ? payPart(this.#rails, random, attempt) : payRest(this.#rails, attempt);
      await paying.catch(() => undefined);
      if (!(await this.#client.waitForEnd(link, attempt.id))) return;
    }
  }

  /** Opens Bre-B beside the bank's page. Each attempt has a payer, so both may be paid, or one late. */
  async #payOnBothRails(random: Random, link: MerchantLink, organizationNumber: number): Promise<void> {
    await this.#client.start(link, 'PSE');
    await this.#client.start(link, 'BRE_B');
    const attempts = await this.#client.attempts(link, 2);
    await Promise.all(
      attempts.map((attempt) =>
        actAsPayer(
          this.#rails,
          random.branch(),
          attempt,
          toRailReference(attempt.id, organizationNumber),
        ).catch(() => undefined),
      ),
    );
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
