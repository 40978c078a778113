import type { MerchantEndpoint, WebhookClient } from '../clients/webhook-client.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

const PAYINS = ['payin.confirmed', 'payin.declined', 'payin.canceled'] as const;
const PAID_OUT = ['payout.confirmed'] as const;

/**
 * A merchant's endpoints: one for all events, two for some, and three that change during the run: one is disabled and
 * enabled again, one rotates its secret, one is created late.
 */
export class MerchantEndpoints {
  readonly #client: WebhookClient;
  readonly #organization: Organization;
  readonly #name: string;
  readonly #sinks: string[] = [];
  #paused: MerchantEndpoint | null = null;
  #rotated: MerchantEndpoint | null = null;

  constructor(client: WebhookClient, organization: Organization, name: string) {
    this.#client = client;
    this.#organization = organization;
    this.#name = name;
  }

  /** Names of its sinks. */
  get sinks(): readonly string[] {
    return this.#sinks;
  }

  async start(): Promise<void> {
    await Promise.all([this.#add('all', null), this.#add('payins', PAYINS), this.#add('paid-out', PAID_OUT)]);
    [this.#paused, this.#rotated] = await Promise.all([
      this.#add('paused', null),
      this.#add('rotated', null),
    ]);
  }

  pause(): Promise<void> {
    return this.#client.setStatus(required(this.#paused), 'DISABLED');
  }

  resume(): Promise<void> {
    return this.#client.setStatus(required(this.#paused), 'ENABLED');
  }

  rotate(): Promise<void> {
    return this.#client.rotate(required(this.#rotated));
  }

  async addLate(): Promise<void> {
    await this.#add('late', null);
  }

  /** Replays an event and sends a test event. */
  async replayAndTest(): Promise<void> {
    await this.#client.replayOne(this.#organization);
    await this.#client.sendTest(required(this.#rotated));
  }

  async #add(what: string, events: readonly string[] | null): Promise<MerchantEndpoint> {
    const endpoint = await this.#client.create(this.#organization, `${this.#name}-${what}`, events);
    this.#sinks.push(endpoint.sink);
    return endpoint;
  }
}

function required(endpoint: MerchantEndpoint | null): MerchantEndpoint {
  if (endpoint === null) throw new Error('the merchant has no endpoints yet');
  return endpoint;
}
