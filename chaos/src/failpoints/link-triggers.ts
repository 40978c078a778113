import { setTimeout as sleep } from 'node:timers/promises';
import { LinkClient, type MerchantLink } from '../clients/link-client.ts';
import { PayinClient } from '../clients/payin-client.ts';
import type { Trial } from '../run/trial.ts';

/** Attempt numbers identify requests in the journal; other clients use lower ranges. */
const FIRST_ATTEMPT = 5_000_000;
const EXPIRING_AT_ONCE = 6;
/** To get a paid link: links, and tries to pay each. */
const MAX_LINKS = 5;
const MAX_TRIES = 30;

/**
 * Triggers the failpoints of payment links. Each request goes first to the API that dies, then to others until it is
 * answered. It must take effect once, whether the API died before or after the commit.
 */
export class LinkTriggers {
  readonly #trial: Trial;
  readonly #client: LinkClient;
  readonly #payins: PayinClient;
  #made = 0;

  constructor(trial: Trial) {
    const { stack, journal } = trial;
    this.#trial = trial;
    this.#client = new LinkClient(stack, journal);
    this.#payins = new PayinClient(journal, stack.organization, stack.apis, FIRST_ATTEMPT);
  }

  createOne(api?: string, hasCustomer = true): Promise<MerchantLink> {
    this.#made += 1;
    const request = { name: `failpoint-link-${this.#made}`, amountInCents: 4_980_000, hasCustomer };
    return this.#client.create(this.#trial.stack.organization, request, api);
  }

  /** Starts the attempt again at another API: there must still be one attempt. */
  async startOne(api: string): Promise<void> {
    const link = await this.createOne(undefined, this.#made % 2 === 0);
    await this.#client.start(link, 'BRE_B', api);
    await this.#client.start(link, 'PSE');
    await this.#pay(link);
  }

  async enterDetails(api: string): Promise<void> {
    this.#made += 1;
    const name = `failpoint-page-${this.#made}`;
    const answer = await this.#payins.sendUntilAnswered(
      {
        idempotencyKey: `key-${name}`,
        body: {
          amountInCents: 2_500_000,
          currency: 'COP',
          rail: 'PSE',
          reference: name,
          pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' },
        },
      },
      () => true,
    );
    if (!answer?.payin) throw new Error(`creating a payin without a customer failed: ${answer?.code}`);
    await this.#client.enterDetails(this.#trial.stack.organization, answer.payin.id, api);
  }

  /** Pays a link, opens its receipt and asks for it by e-mail. */
  async mailReceipt(api: string | undefined): Promise<void> {
    await this.#client.mailReceipt(await this.#paidLink(), api);
  }

  /** The network may not know a key yet. If time is shifted meanwhile, the key expires unpaid, and another link is paid. */
  async #paidLink(): Promise<MerchantLink> {
    for (let links = 0; links < MAX_LINKS; links += 1) {
      const link = await this.createOne();
      await this.#client.start(link, 'BRE_B');
      for (let tries = 0; tries < MAX_TRIES; tries += 1) {
        if (await this.#pay(link)) return link;
        await sleep(100);
      }
    }
    throw new Error(`none of ${MAX_LINKS} links could be paid`);
  }

  async changeOne(api: string): Promise<void> {
    const link = await this.createOne();
    await this.#client.start(link, 'BRE_B');
    await this.#client.change(link, api);
  }

  async closeOne(api: string): Promise<void> {
    const link = await this.createOne();
    await this.#client.start(link, 'BRE_B');
    await this.#client.close(link, api);
  }

  /** Closes the links one by one, so that several worker batches have some to expire. */
  async expireLinks(): Promise<void> {
    const links = await Promise.all(Array.from({ length: EXPIRING_AT_ONCE }, () => this.createOne()));
    for (const link of links) await this.#client.close(link);
  }

  /** Pays the attempt if it has a key. @returns whether the network accepted the payment */
  async #pay(link: MerchantLink): Promise<boolean> {
    const attempt = await this.#client.attempt(link);
    if (!attempt?.key) return false;
    return (await this.#trial.load.rails.pay({ key: attempt.key })).includes(true);
  }
}
