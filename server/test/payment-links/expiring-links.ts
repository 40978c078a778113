import { stopwatch } from '../../../scripts/testing/expect-within.ts';
import { createLinks } from '../../src/flows/payment-links/create-links.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { cents } from '../../src/kit/money.ts';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { newReference } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const BATCH_SIZE = 500;

interface Expiry {
  readonly creationMs: number;
  readonly expiryMs: number;
  readonly counts: {
    readonly expiredBefore: number;
    readonly expired: number;
    readonly events: readonly { readonly event: string; readonly links: number; readonly events: number }[];
  };
}

/** What is right for a number of links: each EXPIRED, with exactly one event. */
export function expiredOnce(links: number): Expiry['counts'] {
  return {
    expiredBefore: 0,
    expired: links,
    events: [{ event: 'paymentlink.expired', links, events: links }],
  };
}

/** Many links that expire in the same second, with one worker, the default. */
export class ExpiringLinks {
  readonly #stack: Stack;
  readonly #caudal: InProcess;

  private constructor(stack: Stack, caudal: InProcess) {
    this.#stack = stack;
    this.#caudal = caudal;
  }

  static async open(): Promise<ExpiringLinks> {
    const stack = await startStack({ workers: 1 });
    return new ExpiringLinks(stack, await composeInProcess(stack.settings));
  }

  async close(): Promise<void> {
    await this.#caudal.close();
    await this.#stack.stop();
  }

  /** Creates links, a multiple of 500, and expires them. Call it once. */
  async expire(links: number): Promise<Expiry> {
    const { database } = this.#stack;
    const creation = stopwatch();
    await this.#create(links);
    const creationMs = creation();
    // All become due at the same moment, whenever they were created.
    const [moment] = await database.query<{ at: Date }>(
      `with moment as (select caudal.now() + interval '1 hour' as at)
       update caudal.payment_links set expires_at = at, closes_at = at from moment returning at`,
    );
    // A link of the next hour must not expire with them.
    await this.#create(BATCH_SIZE);
    await database.query(
      "update caudal.payment_links set closes_at = $1::timestamptz + interval '1 hour', expires_at = $1::timestamptz + interval '1 hour' where expires_at <> $1",
      [moment?.at],
    );
    const expiredBefore = await this.#countExpired();

    await this.#stack.shiftTime(3_600_000);
    const expiry = stopwatch();
    await until('all are EXPIRED', async () => (await this.#countExpired()) >= links);
    const expiryMs = expiry();
    const expired = await this.#countExpired();

    const events = await database.query<{ event: string; links: number; events: number }>(
      `select event, count(distinct resource_id)::int as links, count(*)::int as events from caudal.events
       where resource = 'paymentlink' group by event`,
    );
    await new CheckoutDriver(this.#stack).checkInvariants();
    return { creationMs, expiryMs, counts: { expiredBefore, expired, events } };
  }

  async #create(count: number): Promise<void> {
    const { deps } = this.#caudal;
    const {
      organization,
      keyId: apiKeyId,
      secrets,
    } = await this.#caudal.authenticate(this.#stack.organization.apiKey);
    for (let created = 0; created < count; created += BATCH_SIZE)
      await createLinks(
        deps,
        Array.from({ length: BATCH_SIZE }, () => ({
          id: uuidv7(deps.clock.now(), deps.cell),
          organization,
          apiKeyId,
          secrets,
          idempotency: null,
          createdBy: SYSTEM,
          trace: null,
          amount: cents(100),
          reference: newReference(),
          description: null,
          callbackUrl: 'https://shop.example.com/thanks',
          rail: null,
          pseBank: null,
          customer: null,
          metadata: null,
        })),
      );
  }

  async #countExpired(): Promise<number> {
    const [row] = await this.#stack.database.query<{ count: number }>(
      "select count(*)::int as count from caudal.payment_links where status = 'EXPIRED'",
    );
    return row?.count ?? 0;
  }
}
