import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CUSTOMER } from '../clients/customer.ts';
import { type RailControl, railControl } from '../stack/rail-control.ts';

/** What a merchant asked for and was acknowledged. */
export interface Acknowledged {
  readonly kind: 'payin' | 'payout';
  readonly id: string;
  readonly reference: string;
  readonly idempotencyKey: string;
  readonly amountInCents: number;
  readonly receiver: string;
  readonly at: Date;
}

interface LoadOptions {
  readonly apis: readonly string[];
  readonly apiKey: string;
  readonly simulatorUrl: string;
  readonly perSecond: number;
  /** Each payin and payout has its own amount, from this one on. */
  readonly amountFrom: number;
}

const REQUEST_TIMEOUT_MS = 20_000;

/** Sends payins, which are paid, and payouts at a steady rate, and records what was acknowledged. */
export class DrillLoad {
  readonly acknowledged: Acknowledged[] = [];
  /** Responses other than 201, by status. */
  readonly refused = new Map<number, number>();
  readonly #options: LoadOptions;
  readonly #rails: RailControl;
  readonly #open = new Set<Promise<void>>();
  #running = true;
  #sent = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
    this.#rails = railControl(options.simulatorUrl);
  }

  /** Runs until `stop`. */
  async run(): Promise<void> {
    while (this.#running) {
      this.#start(this.#sent % 2 === 0 ? this.#payin() : this.#payout());
      this.#sent += 1;
      await sleep(1000 / this.#options.perSecond);
    }
  }

  async stop(): Promise<void> {
    this.#running = false;
    await Promise.all(this.#open);
  }

  /** Sends the request of an acknowledged payout again, as a merchant that has lost its payout does. */
  async repeat({ idempotencyKey, reference, amountInCents, receiver }: Acknowledged): Promise<string | null> {
    const created = await this.#post(
      '/payouts',
      idempotencyKey,
      payoutBody(reference, amountInCents, receiver),
    );
    return created?.id ?? null;
  }

  #start(work: Promise<void>): void {
    const open = work.finally(() => this.#open.delete(open));
    this.#open.add(open);
  }

  async #payin(): Promise<void> {
    const reference = randomUUID();
    const amountInCents = this.#options.amountFrom + this.#sent;
    const body = {
      amountInCents,
      currency: 'COP',
      rail: 'BRE_B',
      reference,
      inlineCustomer: CUSTOMER,
      breb: { keyType: 'SINGLE_USE' },
    };
    const key = randomUUID();
    const created = await this.#post('/payins', key, body);
    if (!created) return;
    this.#record({
      kind: 'payin',
      id: created.id,
      reference,
      idempotencyKey: key,
      amountInCents,
      receiver: '',
    });
    const brebKey = created.sourceData?.keyString;
    if (brebKey !== undefined) await this.#pay(brebKey);
  }

  /** Until the rail has the key, which is registered shortly after the acknowledgement. */
  async #pay(key: string): Promise<void> {
    for (let attempt = 0; attempt < 50 && this.#running; attempt += 1) {
      const [paid] = await this.#rails.pay({ key });
      if (paid === true) return;
      await sleep(100);
    }
  }

  async #payout(): Promise<void> {
    const reference = randomUUID();
    const amountInCents = this.#options.amountFrom + this.#sent;
    const key = randomUUID();
    const created = await this.#post('/payouts', key, payoutBody(reference, amountInCents, '@TESTOK'));
    if (created)
      this.#record({
        kind: 'payout',
        id: created.id,
        reference,
        idempotencyKey: key,
        amountInCents,
        receiver: '@TESTOK',
      });
  }

  #record(fact: Omit<Acknowledged, 'at'>): void {
    this.acknowledged.push({ ...fact, at: new Date() });
  }

  async #post(
    path: string,
    idempotencyKey: string,
    body: object,
  ): Promise<{ readonly id: string; readonly sourceData?: { readonly keyString?: string } } | null> {
    const { apis, apiKey } = this.#options;
    try {
      const response = await fetch(`${apis[this.#sent % apis.length]}${path}`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': apiKey,
          'idempotency-key': idempotencyKey,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const answer = (await response.json()) as { readonly id: string };
      if (response.status === 201) return answer;
      this.refused.set(response.status, (this.refused.get(response.status) ?? 0) + 1);
    } catch {
      this.refused.set(0, (this.refused.get(0) ?? 0) + 1);
    }
    return null;
  }
}

function payoutBody(reference: string, amountInCents: number, receiver: string): object {
  return {
    amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference,
    inlineCustomer: CUSTOMER,
    breb: { keyString: receiver },
  };
}
