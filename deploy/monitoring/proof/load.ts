import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CUSTOMER } from '../../../chaos/src/clients/customer.ts';
import type { Stack } from '../../../chaos/src/stack/stack.ts';

interface Created {
  readonly id: string;
  readonly sourceData?: { readonly keyString: string };
}

type Rail = 'BRE_B' | 'PSE';

/** The simulator pays payins of this document in full, three seconds after their creation. */
const PAYS = '1000000001';
const NEVER_PAYS = '52123456';
const EVERY_MS = 1000;
const TIMEOUT_MS = 8000;

/** A merchant with steady traffic: two payins per second and rail, a payout and a read per second. */
export class Load {
  /** Rails whose payers pay. */
  readonly paying = new Set<Rail>(['BRE_B', 'PSE']);
  /** Rails with new payins. */
  readonly creating = new Set<Rail>(['BRE_B', 'PSE']);
  /** Reads per second, besides one. */
  reads = 0;
  readonly #stack: Stack;
  readonly #stopping = new AbortController();
  #loop: Promise<void> = Promise.resolve();
  readonly #active = new Set<Promise<unknown>>();

  constructor(stack: Stack) {
    this.#stack = stack;
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
    await Promise.all(this.#active);
  }

  async payin(rail: Rail, pays = this.paying.has(rail), amountInCents = 5_000_000): Promise<Created> {
    const body = {
      amountInCents,
      currency: 'COP',
      rail,
      reference: randomUUID(),
      inlineCustomer: { ...CUSTOMER, idNumber: pays ? PAYS : NEVER_PAYS },
      ...(rail === 'BRE_B'
        ? { breb: { keyType: 'SINGLE_USE' } }
        : { pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' } }),
    };
    return (await this.request('POST', '/payins', body)) as Created;
  }

  async payout(key = '@TESTOK'): Promise<Created> {
    return (await this.request('POST', '/payouts', {
      amountInCents: 150_000,
      currency: 'COP',
      rail: 'BRE_B',
      reference: randomUUID(),
      inlineCustomer: { ...CUSTOMER, idNumber: NEVER_PAYS },
      breb: { keyString: key },
    })) as Created;
  }

  async addEndpoint(url: string): Promise<string> {
    const { id } = (await this.request('POST', '/webhook-endpoints', { url })) as Created;
    return id;
  }

  async request(method: string, path: string, body?: object): Promise<unknown> {
    const { apis, organization } = this.#stack;
    const api = apis[Math.random() < 0.5 ? 0 : 1];
    const response = await fetch(`${api?.url}${path}`, {
      method,
      headers: {
        'x-api-key': organization.apiKey,
        ...(body ? { 'content-type': 'application/json', 'idempotency-key': randomUUID() } : {}),
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      for (const rail of this.creating) {
        this.#begin(this.payin(rail));
        this.#begin(this.payin(rail));
      }
      this.#begin(this.payout());
      for (let n = 0; n <= this.reads; n += 1) this.#begin(this.request('GET', '/payins?pageSize=10'));
      await sleep(EVERY_MS, null, { signal }).catch(() => undefined);
    }
  }

  /** Requests may fail during faults: the alerts on the responses are what is tested. */
  #begin(request: Promise<unknown>): void {
    const settled = request.then(
      () => undefined,
      () => undefined,
    );
    this.#active.add(settled);
    void settled.then(() => this.#active.delete(settled));
  }
}
