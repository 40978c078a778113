import { Client } from './client.ts';
import { LinkClient, type MerchantLink } from './link-client.ts';
import type { Trial } from './trial.ts';

/** Requests of a journal are told apart by their number, and others count from less. */
const FIRST_ATTEMPT = 5_000_000;
const EXPIRING_AT_ONCE = 6;

/**
 * What a failpoint of links waits for. Asked at the API that dies of it, then at others until it is answered: whichever
 * side of the commit it died on, it has happened once.
 */
export class FailpointLinks {
  readonly #trial: Trial;
  readonly #client: LinkClient;
  readonly #payins: Client;
  #made = 0;

  constructor(trial: Trial) {
    const { stage, journal } = trial;
    this.#trial = trial;
    this.#client = new LinkClient(stage, journal);
    this.#payins = new Client(journal, stage.organization, stage.apis, FIRST_ATTEMPT);
  }

  createOne(api?: string, hasCustomer = true): Promise<MerchantLink> {
    this.#made += 1;
    const request = { name: `failpoint-link-${this.#made}`, amountInCents: 4_980_000, hasCustomer };
    return this.#client.create(this.#trial.stage.organization, request, api);
  }

  /** Begun once more elsewhere, whatever came of it: there is one attempt. */
  async beginOne(api: string): Promise<void> {
    const link = await this.createOne(undefined, this.#made % 2 === 0);
    await this.#client.begin(link, 'BRE_B', api);
    await this.#client.begin(link, 'PSE');
    await this.#pay(link);
  }

  async giveDetails(api: string): Promise<void> {
    this.#made += 1;
    const name = `failpoint-page-${this.#made}`;
    const answer = await this.#payins.insist(
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
    if (!answer?.payin) throw new Error(`a payin without a customer is answered ${answer?.code}`);
    await this.#client.giveDetails(this.#trial.stage.organization, answer.payin.id, api);
  }

  async changeOne(api: string): Promise<void> {
    const link = await this.createOne();
    await this.#client.begin(link, 'BRE_B');
    await this.#client.change(link, api);
  }

  async closeOne(api: string): Promise<void> {
    const link = await this.createOne();
    await this.#client.begin(link, 'BRE_B');
    await this.#client.close(link, api);
  }

  /** One after the other, so that more than one round of a worker has something in hand. */
  async letExpire(): Promise<void> {
    const links = await Promise.all(Array.from({ length: EXPIRING_AT_ONCE }, () => this.createOne()));
    for (const link of links) await this.#client.close(link);
  }

  /** Some of what is begun is paid. */
  async #pay(link: MerchantLink): Promise<void> {
    const attempt = await this.#client.attempt(link);
    if (attempt?.key) await this.#trial.load.rails.pay({ key: attempt.key });
  }
}
