import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AnsweredLine, ClientJournal } from './client-journal.ts';

/** A merchant's request, fixed before it is first sent: every repeat sends the same. */
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

export const PATIENCE_MS = 8000;
/** Longer than anything of the stage may be away; a merchant that gives up earlier proves less. */
export const REPEAT_FOR_MS = 60_000;

/** A merchant's program: it writes down what it is about to ask, asks, and writes down what it was told. */
export class Client {
  readonly #journal: ClientJournal;
  readonly #organization: { readonly organizationId: string; readonly apiKey: string };
  readonly #apis: readonly { readonly url: string }[];
  #attempts: number;
  #turn = 0;

  constructor(
    journal: ClientJournal,
    organization: { readonly organizationId: string; readonly apiKey: string },
    apis: readonly { readonly url: string }[],
    /** Requests of a journal are told apart by their number. */
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

  /** One sending. @returns null when no answer came */
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
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      const answer = answerOf(response.status, (await response.json()) as Record<string, unknown>);
      this.#journal.write({ kind: 'answered', attempt, ...answer });
      return answer;
    } catch (error) {
      this.#journal.write({ kind: 'unanswered', attempt, cause: causeOf(error) });
      return null;
    }
  }

  /** Repeats the same request, at one API after the other, until it is answered clearly. */
  async insist(request: PayinRequest, keepOn: () => boolean): Promise<Answer | null> {
    const until = performance.now() + REPEAT_FOR_MS;
    for (;;) {
      const answer = await this.send(request);
      if (answer !== null && isClear(answer)) return answer;
      // Without a key a repeat finds its own reference taken, which says as much as an answer can.
      if (performance.now() > until || !keepOn()) return null;
      await sleep(150);
    }
  }

  /** Tokens have a transaction of their own, so somebody must ask for them. */
  async takeToken(): Promise<void> {
    const { apiKey } = this.#organization;
    const keyId = apiKey.split('_')[2] ?? '';
    await fetch(`${this.#nextApi()}/oauth/token`, {
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        authorization: `Basic ${Buffer.from(`${keyId}:${apiKey}`).toString('base64')}`,
      },
      body: 'grant_type=client_credentials',
      signal: AbortSignal.timeout(PATIENCE_MS),
    }).then(
      (response) => response.arrayBuffer(),
      () => undefined,
    );
  }

  #nextApi(): string {
    this.#turn += 1;
    return this.#apis[this.#turn % this.#apis.length]?.url ?? '';
  }
}

/** 503 says "not known, repeat"; a key in flight says the same of an earlier sending. */
export function isClear({ status, code }: Pick<Answer, 'status' | 'code'>): boolean {
  return status < 500 && status !== 429 && code !== 'idempotency_in_flight';
}

function answerOf(status: number, body: Record<string, unknown>): Answer {
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

export function causeOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string }; message?: string };
  return cause?.code ?? message ?? String(error);
}
