import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { causeOf, isClear, PATIENCE_MS, REPEAT_FOR_MS } from './client.ts';
import type { CancelAnsweredLine, ClientJournal, PayoutAnsweredLine } from './client-journal.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

/** A merchant's request, fixed before it is first sent: every repeat sends the same. */
export interface PayoutRequest {
  readonly organization: Organization;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  /** The receiver's, in its normal form. */
  readonly key: string;
  readonly lookupId: string | null;
}

type PayoutAnswer = Pick<PayoutAnsweredLine, 'status' | 'code' | 'payout'>;
type CancelAnswer = Pick<CancelAnsweredLine, 'status' | 'code' | 'told'>;

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

const CUSTOMER = {
  name: 'Ana María Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '+573001234567',
  email: 'ana@example.com',
};

/** Merchants' programs that pay: each writes down what it is about to ask, asks, and writes down what it was told. */
export class PayoutClient {
  readonly counts = { sent: 0, repeats: 0, unanswered: 0, givenUp: 0 };
  readonly #journal: ClientJournal;
  readonly #apis: readonly { readonly url: string }[];
  #attempts = 0;

  constructor(journal: ClientJournal, apis: readonly { readonly url: string }[]) {
    this.#journal = journal;
    this.#apis = apis;
  }

  /** One sending. @returns null when no answer came */
  async send(request: PayoutRequest): Promise<PayoutAnswer | null> {
    const { organization, idempotencyKey, ...about } = request;
    const { organizationId } = organization;
    const body = JSON.stringify(bodyOf(request));
    const bodyHash = createHash('sha256').update(body).digest('hex').slice(0, 16);
    const attempt = ++this.#attempts;
    this.counts.sent += 1;
    this.#journal.write({
      kind: 'payout sent',
      attempt,
      organizationId,
      idempotencyKey,
      ...about,
      bodyHash,
    });
    const headers = idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey };
    const reply = await this.#call(organization, 'POST', '/payouts', attempt, body, headers);
    if (reply === null) return null;
    const answer = {
      status: reply.status,
      code: codeIn(reply),
      payout: reply.status === 201 ? payoutIn(reply) : null,
    };
    this.#journal.write({ kind: 'payout answered', attempt, ...answer });
    return answer;
  }

  /** Repeats the same request, at one API after the other, until it is answered clearly. */
  insist(request: PayoutRequest): Promise<PayoutAnswer | null> {
    return this.#insist(() => this.send(request));
  }

  cancel(organization: Organization, payoutId: string): Promise<CancelAnswer | null> {
    return this.#insist(() => this.#cancel(organization, payoutId));
  }

  /** @returns the lookup's id; null when there is none, for whatever reason */
  async lookUp(organization: Organization, key: string): Promise<string | null> {
    const path = `/breb/keys/${encodeURIComponent(key)}`;
    const reply = await this.#call(organization, 'GET', path, ++this.#attempts);
    if (reply?.status !== 200) return null;
    const details = reply.body['details'] as { readonly name: string; readonly documentNumber: string };
    const lookupId = String(reply.body['lookupId']);
    const { name, documentNumber } = details;
    const { organizationId } = organization;
    this.#journal.write({ kind: 'shown', organizationId, lookupId, key, name, documentNumber });
    return lookupId;
  }

  async #cancel(organization: Organization, payoutId: string): Promise<CancelAnswer | null> {
    const attempt = ++this.#attempts;
    const { organizationId } = organization;
    this.#journal.write({ kind: 'cancel sent', attempt, organizationId, payoutId });
    const reply = await this.#call(organization, 'POST', `/payouts/${payoutId}/cancel`, attempt);
    if (reply === null) return null;
    const told = reply.status === 200 ? String(reply.body['status']) : null;
    const answer = { status: reply.status, code: codeIn(reply), told };
    this.#journal.write({ kind: 'cancel answered', attempt, ...answer });
    return answer;
  }

  async #insist<T extends { readonly status: number; readonly code: string | null }>(
    send: () => Promise<T | null>,
  ): Promise<T | null> {
    const until = performance.now() + REPEAT_FOR_MS;
    for (;;) {
      const answer = await send();
      if (answer !== null && isClear(answer)) return answer;
      if (performance.now() > until) {
        this.counts.givenUp += 1;
        return null;
      }
      await sleep(150);
      this.counts.repeats += 1;
    }
  }

  async #call(
    { apiKey }: Organization,
    method: string,
    path: string,
    attempt: number,
    body?: string,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Reply | null> {
    const api = this.#apis[attempt % this.#apis.length]?.url ?? '';
    try {
      const response = await fetch(`${api}${path}`, {
        method,
        headers: {
          'x-api-key': apiKey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      this.counts.unanswered += 1;
      this.#journal.write({ kind: 'unanswered', attempt, cause: causeOf(error) });
      return null;
    }
  }
}

function bodyOf({ amountInCents, reference, key, lookupId }: PayoutRequest): object {
  return {
    amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference,
    inlineCustomer: CUSTOMER,
    breb: { keyString: key, ...(lookupId === null ? {} : { lookupId }) },
  };
}

function codeIn({ body }: Reply): string | null {
  return typeof body['code'] === 'string' ? body['code'] : null;
}

function payoutIn({ body }: Reply): NonNullable<PayoutAnswer['payout']> {
  const source = body['sourceData'] as { readonly keyString: string };
  return {
    id: String(body['id']),
    reference: String(body['reference']),
    amountInCents: Number(body['amountInCents']),
    key: source.keyString,
    status: String(body['status']),
  };
}
