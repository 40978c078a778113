import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnsweredLine, ClientJournal } from './client-journal.ts';

/** A merchant's request. It is fixed before the first send, so every repeat sends the same bytes. */
export interface PayinRequest {
  readonly idempotencyKey: string | null;
  readonly body: {
    readonly amountInCents: number;
    readonly rail: 'BRE_B' | 'PSE';
    readonly reference: string;
    readonly [field: string]: unknown;
  };
}

export type CreatedPayin = NonNullable<AnsweredLine['payin']>;

export interface Answer {
  readonly status: number;
  readonly code: string | null;
  readonly payin: CreatedPayin | null;
}

export const REQUEST_TIMEOUT_MS = 8000;
/** Longer than any process of the stack may be down; a merchant that gives up earlier proves less. */
export const RETRY_FOR_MS = 60_000;

/** A merchant's program: it journals the request, sends it, and journals the response. */
export class PayinClient {
  readonly #journal: ClientJournal;
  readonly #organization: { readonly organizationId: string; readonly apiKey: string };
  readonly #apis: readonly { readonly url: string }[];
  #attempts: number;
  #calls = 0;

  constructor(
    journal: ClientJournal,
    organization: { readonly organizationId: string; readonly apiKey: string },
    apis: readonly { readonly url: string }[],
    /** Attempt numbers identify requests in the journal and must not overlap between clients. */
    firstAttempt = 0,
  ) {
    this.#journal = journal;
    this.#organization = organization;
    this.#apis = apis;
    this.#attempts = firstAttempt;
  }

  get attempts(): number {
    return this.#attempts;
  }

  /** Sends once. @returns null when no response arrived */
  async send({ idempotencyKey, body }: PayinRequest): Promise<Answer | null> {
    const api = this.#nextApi();
    const text = JSON.stringify(body);
    const attempt = ++this.#attempts;
    const { organizationId, apiKey } = this.#organization;
    const { amountInCents, rail, reference } = body;
    const bodyHash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    const about = { organizationId, idempotencyKey, reference, amountInCents, rail, bodyHash };
    this.#journal.write({ kind: 'sent', attempt, api, ...about });
    try {
      const response = await fetch(`${api}/payins`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-api-key': apiKey,
          ...(idempotencyKey === null ? {} : { 'idempotency-key': idempotencyKey }),
        },
        body: text,
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      const answer = toAnswer(response.status, (await response.json()) as Record<string, unknown>);
      this.#journal.write({ kind: 'answered', attempt, ...answer });
      return answer;
    } catch (error) {
      this.#journal.write({ kind: 'unanswered', attempt, cause: toCause(error) });
      return null;
    }
  }

  /** Repeats the request, alternating between the APIs, until the response is conclusive. */
  async sendUntilAnswered(request: PayinRequest, shouldContinue: () => boolean): Promise<Answer | null> {
    const until = performance.now() + RETRY_FOR_MS;
    for (;;) {
      const answer = await this.send(request);
      if (answer !== null && isConclusive(answer)) return answer;
      // Without an idempotency key, a repeat finds its own reference taken, which is conclusive too.
      if (performance.now() > until || !shouldContinue()) return null;
      await sleep(150);
    }
  }

  /** Issuing a token has its own transaction, so the load must request some. */
  async requestToken(): Promise<void> {
    const { apiKey } = this.#organization;
    const apiKeyId = apiKey.split('_')[2] ?? '';
    await fetch(`${this.#nextApi()}/oauth/token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(`${apiKeyId}:${apiKey}`).toString('base64')}`,
      },
      body: 'grant_type=client_credentials',
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).then(
      (response) => response.arrayBuffer(),
      () => undefined,
    );
  }

  #nextApi(): string {
    this.#calls += 1;
    return this.#apis[this.#calls % this.#apis.length]?.url ?? '';
  }
}

/** 503 means "outcome unknown, retry"; so does `idempotency_in_flight`, for an earlier send. */
export function isConclusive({ status, code }: Pick<Answer, 'status' | 'code'>): boolean {
  return status < 500 && status !== 429 && code !== 'idempotency_in_flight';
}

function toAnswer(status: number, body: Record<string, unknown>): Answer {
  const code = typeof body['code'] === 'string' ? body['code'] : null;
  if (status !== 201) return { status, code, payin: null };
  const source = body['sourceData'] as { readonly keyString?: string } | undefined;
  return {
    status,
    code,
    payin: {
      id: String(body['id']),
      reference: String(body['reference']),
      amountInCents: Number(body['amountInCents']),
      rail: String(body['rail']),
      key: source?.keyString ?? null,
    },
  };
}

export function toCause(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string }; message?: string };
  return cause?.code ?? message ?? String(error);
}
