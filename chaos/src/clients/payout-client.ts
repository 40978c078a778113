import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { CancelAnsweredLine, ClientJournal, PayoutAnsweredLine } from './client-journal.ts';
import { CUSTOMER } from './customer.ts';
import { isConclusive, REQUEST_TIMEOUT_MS, RETRY_FOR_MS, toCause } from './payin-client.ts';

interface Organization {
  readonly organizationId: string;
  readonly apiKey: string;
}

/** A merchant's request. It is fixed before the first send, so every repeat sends the same bytes. */
export interface PayoutRequest {
  readonly organization: Organization;
  readonly idempotencyKey: string | null;
  readonly reference: string;
  readonly amountInCents: number;
  /** The receiver's Bre-B key, normalized. */
  readonly key: string;
  readonly lookupId: string | null;
}

type PayoutAnswer = Pick<PayoutAnsweredLine, 'status' | 'code' | 'payout'>;
type CancelAnswer = Pick<CancelAnsweredLine, 'status' | 'code' | 'reportedStatus'>;

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Merchants' programs that send payouts: each journals the request, sends it, and journals the response. */
export class PayoutClient {
  readonly counts = { sent: 0, repeats: 0, unanswered: 0, abandoned: 0 };
  readonly #journal: ClientJournal;
  readonly #apis: readonly { readonly url: string }[];
  #attempts = 0;

  constructor(journal: ClientJournal, apis: readonly { readonly url: string }[]) {
    this.#journal = journal;
    this.#apis = apis;
  }

  /** Sends once. @returns null when no response arrived */
  async send(request: PayoutRequest): Promise<PayoutAnswer | null> {
    const { organization, idempotencyKey, ...about } = request;
    const { organizationId } = organization;
    const body = JSON.stringify(toBody(request));
    const bodyHash = createHash('sha256').update(body).digest('hex').slice(0, 16);
    const attempt = ++this.#attempts;
    this.counts.sent += 1;
    this.#journal.write({
      kind: 'payout_sent',
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
      code: getCode(reply),
      payout: reply.status === 201 ? getPayout(reply) : null,
    };
    this.#journal.write({ kind: 'payout_answered', attempt, ...answer });
    return answer;
  }

  /** Repeats the request, alternating between the APIs, until the response is conclusive. */
  sendUntilAnswered(request: PayoutRequest): Promise<PayoutAnswer | null> {
    return this.#sendUntilAnswered(() => this.send(request));
  }

  cancel(organization: Organization, payoutId: string): Promise<CancelAnswer | null> {
    return this.#sendUntilAnswered(() => this.#cancel(organization, payoutId));
  }

  /** @returns the lookup's id; null when the lookup failed for any reason */
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
    this.#journal.write({ kind: 'cancel_sent', attempt, organizationId, payoutId });
    const reply = await this.#call(organization, 'POST', `/payouts/${payoutId}/cancel`, attempt);
    if (reply === null) return null;
    const reportedStatus = reply.status === 200 ? String(reply.body['status']) : null;
    const answer = { status: reply.status, code: getCode(reply), reportedStatus };
    this.#journal.write({ kind: 'cancel_answered', attempt, ...answer });
    return answer;
  }

  async #sendUntilAnswered<T extends { readonly status: number; readonly code: string | null }>(
    send: () => Promise<T | null>,
  ): Promise<T | null> {
    const until = performance.now() + RETRY_FOR_MS;
    for (;;) {
      const answer = await send();
      if (answer !== null && isConclusive(answer)) return answer;
      if (performance.now() > until) {
        this.counts.abandoned += 1;
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
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      this.counts.unanswered += 1;
      this.#journal.write({ kind: 'unanswered', attempt, cause: toCause(error) });
      return null;
    }
  }
}

function toBody({ amountInCents, reference, key, lookupId }: PayoutRequest): object {
  return {
    amountInCents,
    currency: 'COP',
    rail: 'BRE_B',
    reference,
    inlineCustomer: CUSTOMER,
    breb: { keyString: key, ...(lookupId === null ? {} : { lookupId }) },
  };
}

function getCode({ body }: Reply): string | null {
  return typeof body['code'] === 'string' ? body['code'] : null;
}

function getPayout({ body }: Reply): NonNullable<PayoutAnswer['payout']> {
  const source = body['sourceData'] as { readonly keyString: string };
  return {
    id: String(body['id']),
    reference: String(body['reference']),
    amountInCents: Number(body['amountInCents']),
    key: source.keyString,
    status: String(body['status']),
  };
}
