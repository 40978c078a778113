import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { pseReferenceOf } from './payer.ts';
import type { Trial } from './trial.ts';

/** Requests are told apart by their number, and the load's clients count from one. */
const FIRST_ATTEMPT = 1_000_000;
const PATIENCE_MS = 8000;
const ARRIVES_WITHIN_MS = 30_000;
const CUSTOMER = {
  name: 'Ana Rojas',
  idType: 'CO_CC',
  idNumber: '1020304050',
  phone: '+573001234567',
  email: 'ana@example.com',
};

/** What a failpoint of payouts waits for and the load brings about too rarely. Written down like the load's own. */
export class FailpointPayouts {
  readonly #trial: Trial;
  #attempts = FIRST_ATTEMPT;
  #undecided: string | null = null;

  constructor(trial: Trial) {
    this.#trial = trial;
  }

  /** At this API, whether or not it lives to answer. */
  async lookUp(api: string, key = '@TESTOK'): Promise<string | null> {
    const path = `/breb/keys/${encodeURIComponent(key)}`;
    const reply = await this.#call(api, 'GET', path, ++this.#attempts);
    if (reply?.status !== 200) return null;
    const { name, documentNumber } = reply.body['details'] as Readonly<Record<string, string>>;
    const lookupId = String(reply.body['lookupId']);
    this.#trial.journal.write({
      kind: 'shown',
      organizationId: this.#organization.organizationId,
      lookupId,
      key,
      name: name ?? '',
      documentNumber: documentNumber ?? '',
    });
    return lookupId;
  }

  async cancelOne(api: string): Promise<void> {
    const { journal } = this.#trial;
    const payoutId = await this.#create(api, '@TESTOK', null);
    if (payoutId === null) return;
    const attempt = ++this.#attempts;
    const { organizationId } = this.#organization;
    journal.write({ kind: 'cancel sent', attempt, organizationId, payoutId });
    const reply = await this.#call(api, 'POST', `/payouts/${payoutId}/cancel`, attempt);
    if (reply === null) return;
    const told = reply.status === 200 ? String(reply.body['status']) : null;
    journal.write({ kind: 'cancel answered', attempt, status: reply.status, code: codeIn(reply), told });
  }

  /** Some orders never arrive, and leave again when what the directory promised about their keys is no longer honoured. */
  async letResolutionsExpire(): Promise<void> {
    const { load, stage } = this.#trial;
    await load.rails.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down', times: 3 });
    await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const { url = '' } = stage.apis[n % stage.apis.length] ?? {};
        await this.#create(url, '@TESTOK', await this.lookUp(url));
      }),
    );
    await sleep(500);
    await stage.shiftTime(660_000);
  }

  /** Nobody hears what became of the next orders. */
  async loseAnswers(): Promise<void> {
    const { load, stage } = this.#trial;
    await load.rails.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down', times: 2 });
    await Promise.all(stage.apis.map(({ url }) => this.#create(url, '@TESTOK', null)));
    await sleep(500);
    await stage.shiftTime(5000);
  }

  /** One that the rail has had for so long that an operator may decide about it. */
  async undecided(): Promise<string> {
    const { load, stage } = this.#trial;
    const deadline = performance.now() + ARRIVES_WITHIN_MS;
    while (performance.now() < deadline) {
      const { url = '' } = stage.apis[this.#attempts % stage.apis.length] ?? {};
      const payoutId = await this.#create(url, '@TESTTIMEOUT', null);
      if (payoutId === null) continue;
      this.#undecided = await this.#endToEndId(payoutId);
      while ((await load.rails.orderStatus(this.#undecided)) === null && performance.now() < deadline)
        await sleep(100);
      await stage.shiftTime(61_000);
      return payoutId;
    }
    throw new Error('no payout could be created');
  }

  /** In the end the rail says what the operator said. */
  async rejectUndecided(): Promise<void> {
    if (this.#undecided === null) return;
    await this.#trial.load.rails.endOrder({ endToEndId: this.#undecided, outcome: 'REJECTED' });
  }

  async #create(api: string, key: string, lookupId: string | null): Promise<string | null> {
    const { journal } = this.#trial;
    const { organizationId } = this.#organization;
    const attempt = ++this.#attempts;
    const about = { reference: `failpoint-${attempt}`, amountInCents: 12_345 };
    const body = JSON.stringify({
      ...about,
      currency: 'COP',
      rail: 'BRE_B',
      inlineCustomer: CUSTOMER,
      breb: { keyString: key, ...(lookupId === null ? {} : { lookupId }) },
    });
    const bodyHash = createHash('sha256').update(body).digest('hex').slice(0, 16);
    const idempotencyKey = `key-${about.reference}`;
    journal.write({
      kind: 'payout sent',
      attempt,
      organizationId,
      idempotencyKey,
      ...about,
      key,
      lookupId,
      bodyHash,
    });
    const reply = await this.#call(api, 'POST', '/payouts', attempt, body, idempotencyKey);
    if (reply === null) return null;
    const id = reply.status === 201 ? String(reply.body['id']) : null;
    const payout = id === null ? null : { id, ...about, key, status: String(reply.body['status']) };
    journal.write({ kind: 'payout answered', attempt, status: reply.status, code: codeIn(reply), payout });
    return id;
  }

  async #call(
    api: string,
    method: string,
    path: string,
    attempt: number,
    body?: string,
    idempotencyKey?: string,
  ): Promise<Reply | null> {
    try {
      const response = await fetch(api + path, {
        method,
        headers: {
          'x-api-key': this.#organization.apiKey,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      this.#trial.journal.write({ kind: 'unanswered', attempt, cause: String(error) });
      return null;
    }
  }

  async #endToEndId(payoutId: string): Promise<string> {
    const [row] = await this.#trial.stage.query<{ number: number }>(
      'select number from caudal.organizations where id = $1',
      [this.#organization.organizationId],
    );
    return pseReferenceOf(payoutId, row?.number ?? 0);
  }

  get #organization() {
    return this.#trial.stage.organization;
  }
}

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

function codeIn({ body }: Reply): string | null {
  return typeof body['code'] === 'string' ? body['code'] : null;
}
