import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from './step.ts';

const PAYER = {
  name: 'Ana Rojas',
  idType: 'CO_CC',
  phone: '+573001234567',
  email: 'ana@example.com',
};
/** The simulator rejects payins with the second document. */
const DOCUMENTS = { plain: '1020304050', refused: '1000000021' } as const;

/** A server without a database connection for a second responds 503, and the merchant retries. */
const REQUEST_TIMEOUT_MS = 60_000;

interface PayinBody extends Readonly<Record<string, unknown>> {
  readonly amountInCents: number;
  readonly reference: string;
  readonly rail: string;
}

/** A request that can be repeated byte for byte. */
export interface PayinRequest {
  readonly body: PayinBody;
  readonly idempotencyKey: string | null;
}

interface LinkRequest {
  readonly body: Readonly<Record<string, unknown>>;
  readonly idempotencyKey: string | null;
}

interface PayoutBody extends Readonly<Record<string, unknown>> {
  readonly amountInCents: number;
  readonly reference: string;
}

export interface PayoutRequest {
  readonly body: PayoutBody;
  readonly idempotencyKey: string | null;
}

export interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly replayed: boolean;
  /** An earlier send was answered 503, so it may already have taken effect. */
  readonly repeated: boolean;
}

export function payinRequest(order: Order, name: string): PayinRequest {
  const { rail, cents, payer, idempotent } = order;
  const inlineCustomer = payer === 'none' ? undefined : { ...PAYER, idNumber: DOCUMENTS[payer] };
  const ofRail =
    rail === 'BRE_B'
      ? { breb: { keyType: 'SINGLE_USE' } }
      : { pse: { bank: 'CO_BANCOLOMBIA', personType: 'INDIVIDUAL' } };
  return {
    body: {
      amountInCents: cents,
      currency: 'COP',
      rail,
      reference: name,
      ...(inlineCustomer ? { inlineCustomer } : {}),
      ...ofRail,
    },
    idempotencyKey: idempotent ? `key-${name}` : null,
  };
}

export function payoutRequest(
  { cents, idempotent }: { readonly cents: number; readonly idempotent: boolean },
  name: string,
  breb: { readonly keyString: string; readonly lookupId?: string },
): PayoutRequest {
  const inlineCustomer = { ...PAYER, idNumber: DOCUMENTS.plain };
  return {
    body: { amountInCents: cents, currency: 'COP', rail: 'BRE_B', reference: name, inlineCustomer, breb },
    idempotencyKey: idempotent ? `key-${name}` : null,
  };
}

export function linkRequest(
  { cents, hasCustomer }: { readonly cents: number; readonly hasCustomer: boolean },
  name: string,
): LinkRequest {
  const inlineCustomer = { ...PAYER, idNumber: DOCUMENTS.plain };
  return {
    body: {
      amountType: 'FIXED',
      amountInCents: cents,
      reference: name,
      callbackUrl: 'https://shop.example.com/thanks',
      ...(hasCustomer ? { inlineCustomer } : {}),
    },
    idempotencyKey: `key-${name}`,
  };
}

/** A merchant's program at one API; it retries while the response is 503. */
export class Merchant {
  readonly #url: string;
  readonly #apiKey: string;

  constructor(url: string, apiKey: string) {
    this.#url = url;
    this.#apiKey = apiKey;
  }

  create(request: PayinRequest): Promise<Answer> {
    return this.#post('/payins', request);
  }

  createPayout(request: PayoutRequest): Promise<Answer> {
    return this.#post('/payouts', request);
  }

  createLink(request: LinkRequest): Promise<Answer> {
    return this.#post('/payment-links', request);
  }

  expireLink(linkId: string): Promise<Answer> {
    return this.#send('POST', `/payment-links/${linkId}/expire`, { headers: {} });
  }

  cancel(payoutId: string): Promise<Answer> {
    return this.#send('POST', `/payouts/${payoutId}/cancel`, { headers: {} });
  }

  accept(payinId: string, anomalyId: string): Promise<Answer> {
    return this.#send('POST', `/payins/${payinId}/anomalies/${anomalyId}/accept`, {
      headers: { 'idempotency-key': `accept-${anomalyId}` },
    });
  }

  lookUp(key: string): Promise<Answer> {
    return this.get(`/breb/keys/${encodeURIComponent(key)}`);
  }

  get(path: string): Promise<Answer> {
    return this.#send('GET', path, { headers: {} });
  }

  #post(path: string, { body, idempotencyKey }: PayinRequest | PayoutRequest | LinkRequest): Promise<Answer> {
    return this.#send('POST', path, {
      headers: {
        'content-type': 'application/json',
        ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify(body),
    });
  }

  async #send(
    method: string,
    path: string,
    { headers, body }: { headers: Record<string, string>; body?: string },
  ): Promise<Answer> {
    const deadline = performance.now() + REQUEST_TIMEOUT_MS;
    for (let repeated = false; ; repeated = true) {
      const response = await fetch(this.#url + path, {
        method,
        headers: { ...headers, 'x-api-key': this.#apiKey },
        ...(body === undefined ? {} : { body }),
      });
      const read = (await response.json()) as Readonly<Record<string, unknown>>;
      if (response.status !== 503 || performance.now() > deadline)
        return {
          status: response.status,
          body: read,
          replayed: response.headers.get('idempotent-replayed') === 'true',
          repeated,
        };
      await sleep(50);
    }
  }
}
