import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { CUSTOMER } from '../clients/customer.ts';
import { toRailReference } from '../load/payer.ts';
import type { Trial } from '../run/trial.ts';

/** Attempt numbers identify requests in the journal; the load's clients start at one. */
const FIRST_ATTEMPT = 1_000_000;
const REQUEST_TIMEOUT_MS = 8000;
const ARRIVAL_TIMEOUT_MS = 30_000;
/** Triggers the failpoints of payouts that the load reaches too rarely. Journals its requests like the load. */
export class PayoutTriggers {
  readonly #trial: Trial;
  #attempts = FIRST_ATTEMPT;
  #undecided: string | null = null;

  constructor(trial: Trial) {
    this.#trial = trial;
  }

  /** Looks up a key at this API, which may die before it responds. */
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
    journal.write({ kind: 'cancel_sent', attempt, organizationId, payoutId });
    const reply = await this.#call(api, 'POST', `/payouts/${payoutId}/cancel`, attempt);
    if (reply === null) return;
    const reportedStatus = reply.status === 200 ? String(reply.body['status']) : null;
    const { status } = reply;
    journal.write({ kind: 'cancel_answered', attempt, status, code: getCode(reply), reportedStatus });
  }

  /** Some orders never arrive and are resent after their key resolutions have expired. */
  async expireResolutions(): Promise<void> {
    const { load, stack } = this.#trial;
    await load.rails.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down', times: 3 });
    await Promise.all(
      Array.from({ length: 6 }, async (_, n) => {
        const { url = '' } = stack.apis[n % stack.apis.length] ?? {};
        await this.#create(url, '@TESTOK', await this.lookUp(url));
      }),
    );
    await sleep(500);
    await stack.shiftTime(660_000);
  }

  /** The rail does not answer the next orders. */
  async loseAnswers(): Promise<void> {
    const { load, stack } = this.#trial;
    await load.rails.addFault({ rail: 'BRE_B', operation: 'order', fault: 'down', times: 2 });
    await Promise.all(stack.apis.map(({ url }) => this.#create(url, '@TESTOK', null)));
    await sleep(500);
    await stack.shiftTime(5000);
  }

  /** Creates a payout that the rail has left undecided long enough for an operator to resolve it. */
  async undecided(): Promise<string> {
    const { load, stack } = this.#trial;
    const deadline = performance.now() + ARRIVAL_TIMEOUT_MS;
    while (performance.now() < deadline) {
      const { url = '' } = stack.apis[this.#attempts % stack.apis.length] ?? {};
      const payoutId = await this.#create(url, '@TESTTIMEOUT', null);
      if (payoutId === null) continue;
      this.#undecided = await this.#endToEndId(payoutId);
      while ((await load.rails.orderStatus(this.#undecided)) === null && performance.now() < deadline)
        await sleep(100);
      await stack.shiftTime(61_000);
      return payoutId;
    }
    throw new Error('no payout could be created');
  }

  /** The rail finally reports the outcome that the operator chose. */
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
      kind: 'payout_sent',
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
    journal.write({ kind: 'payout_answered', attempt, status: reply.status, code: getCode(reply), payout });
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
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      return { status: response.status, body: (await response.json()) as Record<string, unknown> };
    } catch (error) {
      this.#trial.journal.write({ kind: 'unanswered', attempt, cause: String(error) });
      return null;
    }
  }

  async #endToEndId(payoutId: string): Promise<string> {
    const [row] = await this.#trial.stack.query<{ number: number }>(
      'select number from caudal.organizations where id = $1',
      [this.#organization.organizationId],
    );
    return toRailReference(payoutId, row?.number ?? 0);
  }

  get #organization() {
    return this.#trial.stack.organization;
  }
}

interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

function getCode({ body }: Reply): string | null {
  return typeof body['code'] === 'string' ? body['code'] : null;
}
