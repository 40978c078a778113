import { afterAll, beforeAll, expect, it } from 'vitest';
import { within } from '../../../scripts/testing/expect-within.ts';
import { SYSTEM } from '../../src/kit/actor.ts';
import { uuidv7 } from '../../src/kit/ids.ts';
import { encryptPart } from '../../src/webhooks/endpoint.encryption.ts';
import { insertEndpoint } from '../../src/webhooks/endpoint.store.ts';
import { generateWebhookSecret } from '../../src/webhooks/signature.ts';
import { until } from '../harness/until.ts';
import { type Merchant, WebhookStage } from './webhook-stage.ts';

/** More queues than a worker has slots of all kinds. */
const ENDPOINTS = 1200;
/** Upper limit for an immediate delivery on a busy machine; a hanging request takes ten seconds. */
const IMMEDIATE_MS = 4000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/**
 * Inserts endpoints with the same path, more than the API allows for an organization; each one is already
 * failing.
 */
async function failingEndpoints({ id: organizationId, shop }: Merchant, path: string): Promise<void> {
  const { deps } = stage.inProcess;
  const { dataKey } = shop.principal.secrets;
  await deps.batch.write('manage endpoints', new Set([organizationId]), async (tx) => {
    for (let count = 0; count < ENDPOINTS; count += 1) {
      const id = uuidv7(deps.clock.now(), deps.cell);
      await insertEndpoint(tx, {
        organizationId,
        id,
        encryptedUrl: encryptPart(dataKey, 'address', stage.sink.url(path), organizationId, id),
        events: null,
        description: null,
        encryptedStaticHeader: null,
        encryptedSecret: encryptPart(dataKey, 'secret', generateWebhookSecret(), organizationId, id),
        createdBy: SYSTEM,
      });
    }
  });
  await stage.query(
    'update caudal.webhook_queues set failures = 3, failing_since = caudal.now() where organization_id = $1',
    [organizationId],
  );
}

it('delivers to other organizations without delay however many failing endpoints hang', async () => {
  const [merchant, otherMerchant] = [await stage.merchant(), await stage.merchant()];
  const otherEndpoint = await otherMerchant.endpoint();
  const path = stage.newPath();
  stage.sink.answer(path, 'hang');
  await failingEndpoints(merchant, path);
  await merchant.record(1);
  await merchant.waitUntilDispatched();
  // Past the pause of every endpoint.
  await stage.stack.shiftTime(60_000);
  await stage.sink.waitForRequests(path, 100);
  // Until the first request times out: by then the number of hanging requests has peaked.
  const hasTimedOut = async () =>
    (
      await stage.query('select from caudal.webhook_attempts where organization_id = $1 limit 1', [
        merchant.id,
      ])
    ).length > 0;
  let rounds = 0;
  for (; !(await hasTimedOut()); rounds += 1) {
    const eventId = await otherMerchant.declinePayout();
    await within('an immediate delivery', IMMEDIATE_MS, () =>
      stage.sink.waitForEvent(otherEndpoint.path, eventId),
    );
  }
  expect(rounds, 'the endpoints hung during all rounds').toBeGreaterThan(3);
  await until('their attempts timed out', async () => {
    const [row] = await stage.query<{ error: string }>(
      'select distinct error from caudal.webhook_attempts where organization_id = $1',
      [merchant.id],
    );
    return row?.error === 'timeout';
  });
});
