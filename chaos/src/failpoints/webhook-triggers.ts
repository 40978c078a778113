import type { MerchantEndpoint, WebhookClient } from '../clients/webhook-client.ts';
import type { Trial } from '../run/trial.ts';

const PAID_OUT = ['payout.confirmed', 'payout.declined', 'payout.canceled'];

/** Triggers the failpoints of webhooks on a stack whose merchant has endpoints. */
export class WebhookTriggers {
  readonly #trial: Trial;
  readonly #client: WebhookClient;
  readonly #endpoints: MerchantEndpoint[] = [];
  #created = 0;

  private constructor(trial: Trial, client: WebhookClient) {
    this.#trial = trial;
    this.#client = client;
  }

  static async on(trial: Trial): Promise<WebhookTriggers> {
    if (!trial.webhooks) throw new Error('the trial has no sinks for endpoints');
    const webhooks = new WebhookTriggers(trial, trial.webhooks);
    for (const [sink, events] of [
      ['all', null],
      ['also-all', null],
      ['paid-out', PAID_OUT],
    ] as const)
      webhooks.#endpoints.push(await trial.webhooks.create(trial.stack.organization, sink, events));
    return webhooks;
  }

  /** A dead worker may hold leases on some queues, so a test event goes to every endpoint. */
  async deliver(): Promise<void> {
    await Promise.all(this.#endpoints.map((endpoint) => this.#client.sendTest(endpoint)));
  }

  /**
   * Sends the request to this API, which dies, then to others until it is answered. One endpoint must exist and its secret
   * must be returned, whether the API died before or after the commit.
   */
  async addOne(api: string): Promise<void> {
    this.#created += 1;
    const { organization } = this.#trial.stack;
    this.#endpoints.push(await this.#client.create(organization, `failpoint-${this.#created}`, null, api));
  }

  async replayOne(api: string): Promise<void> {
    await this.#client.replayOne(this.#trial.stack.organization, api);
  }
}
