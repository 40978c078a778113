import type { Trial } from './trial.ts';
import type { MerchantEndpoint, WebhookClient } from './webhook-client.ts';

const PAID_OUT = ['payout.confirmed', 'payout.declined', 'payout.canceled'];

/** What a failpoint of webhooks waits for, on a stage whose merchant has endpoints. */
export class FailpointWebhooks {
  readonly #trial: Trial;
  readonly #client: WebhookClient;
  readonly #endpoints: MerchantEndpoint[] = [];
  #turn = 0;

  private constructor(trial: Trial, client: WebhookClient) {
    this.#trial = trial;
    this.#client = client;
  }

  static async on(trial: Trial): Promise<FailpointWebhooks> {
    if (!trial.webhooks) throw new Error('this stage has nothing behind endpoints');
    const webhooks = new FailpointWebhooks(trial, trial.webhooks);
    for (const [sink, events] of [
      ['all', null],
      ['also-all', null],
      ['paid-out', PAID_OUT],
    ] as const)
      webhooks.#endpoints.push(await trial.webhooks.create(trial.stage.organization, sink, events));
    return webhooks;
  }

  /** Whoever died may have left lines claimed; a test goes to the next, and is delivered by whoever lives. */
  async deliver(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => this.#client.sendTest(endpoint)));
  }

  /**
   * Asked at this API, which dies of it, then at others until it is answered: whichever side of the commit it died on, there is
   * one endpoint and its secret is told.
   */
  async addOne(api: string): Promise<void> {
    this.#turn += 1;
    const { organization } = this.#trial.stage;
    this.#endpoints.push(await this.#client.create(organization, `failpoint-${this.#turn}`, null, api));
  }

  async replayOne(api: string): Promise<void> {
    await this.#client.replayOne(this.#trial.stage.organization, api);
  }
}
