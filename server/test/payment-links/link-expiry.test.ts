import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLinks } from '../../src/flows/payment-links/create-links.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { cents } from '../../src/kit/money.ts';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { composeInProcess, type InProcess } from '../harness/in-process.ts';
import { newReference } from '../harness/payin-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const LINKS = 10_000;
const BATCH_SIZE = 500;
/** Five seconds on an idle machine, where the creation takes 0.7 s. A ratio, because other tests use the same cores. */
const MAX_RATIO = 7;

let stack: Stack;
let caudal: InProcess;
beforeAll(async () => {
  // One worker, the default.
  stack = await startStack({ workers: 1 });
  caudal = await composeInProcess(stack.settings);
});
afterAll(async () => {
  await caudal?.close();
  await stack?.stop();
});

async function create(count: number): Promise<void> {
  const { organization, keyId: apiKeyId, secrets } = await caudal.authenticate(stack.organization.apiKey);
  const { clock, cell } = caudal.deps;
  for (let created = 0; created < count; created += BATCH_SIZE)
    await createLinks(
      caudal.deps,
      Array.from({ length: BATCH_SIZE }, () => ({
        id: uuidv7(clock.now(), cell),
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

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1000;
}

async function countExpired(): Promise<number> {
  const [row] = await stack.database.query<{ count: number }>(
    "select count(*)::int as count from caudal.payment_links where status = 'EXPIRED'",
  );
  return row?.count ?? 0;
}

describe('ten thousand links that expire in the same second', () => {
  it('are all EXPIRED by one worker within seven times the time of their creation, each with exactly one event', async () => {
    const creationStartedAt = performance.now();
    await create(LINKS);
    const creationSeconds = secondsSince(creationStartedAt);
    // All become due at the same moment, whenever they were created.
    const [moment] = await stack.database.query<{ at: Date }>(
      `with moment as (select caudal.now() + interval '1 hour' as at)
       update caudal.payment_links set expires_at = at, closes_at = at from moment returning at`,
    );
    // A link of the next hour must not expire with them.
    await create(BATCH_SIZE);
    await stack.database.query(
      "update caudal.payment_links set closes_at = $1::timestamptz + interval '1 hour', expires_at = $1::timestamptz + interval '1 hour' where expires_at <> $1",
      [moment?.at],
    );
    expect(await countExpired()).toBe(0);

    await stack.shiftTime(3_600_000);
    const startedAt = performance.now();
    await until('all are EXPIRED', async () => (await countExpired()) >= LINKS, 60_000);
    const seconds = secondsSince(startedAt);
    process.stdout.write(
      `${LINKS} links created in ${creationSeconds.toFixed(2)} s, expired in ${seconds.toFixed(2)} s\n`,
    );
    expect(await countExpired()).toBe(LINKS);
    expect(seconds / creationSeconds).toBeLessThan(MAX_RATIO);

    const events = await stack.database.query<{ event: string; links: number; events: number }>(
      `select event, count(distinct resource_id)::int as links, count(*)::int as events from caudal.events
       where resource = 'paymentlink' group by event`,
    );
    expect(events).toEqual([{ event: 'paymentlink.expired', links: LINKS, events: LINKS }]);
    await new CheckoutDriver(stack).checkInvariants();
  }, 120_000);
});
