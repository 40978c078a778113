import { afterAll, beforeAll, expect, it } from 'vitest';
import { uuidv7 } from '../../src/kit/ids.ts';
import { sealPart } from '../../src/webhooks/endpoint.seal.ts';
import { insertEndpoint } from '../../src/webhooks/endpoint.store.ts';
import { freshWebhookSecret } from '../../src/webhooks/signature.ts';
import { until } from '../harness/until.ts';
import { type Merchant, WebhookStage } from './webhook-stage.ts';

/** More than a worker has places for lines, of all kinds together. */
const CROWD = 1200;
/** What a merchant takes for "at once" on a machine where everything runs at the same time; a hanging answer takes ten. */
const AT_ONCE_MS = 4000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

/** Endpoints that lead to the same path, more than an organization may have by asking; each has failed before. */
async function failingEndpoints({ id: organizationId, shop }: Merchant, path: string): Promise<void> {
  const { deps } = stage.inside;
  const { dataKey } = shop.principal.secrets;
  await deps.batch.write('manage endpoints', new Set([organizationId]), async (tx) => {
    for (let count = 0; count < CROWD; count += 1) {
      const id = uuidv7(deps.clock.now(), deps.cell);
      await insertEndpoint(tx, {
        organizationId,
        id,
        sealedAddress: sealPart(dataKey, 'address', stage.sink.url(path), organizationId, id),
        events: null,
        description: null,
        sealedStaticHeader: null,
        sealedSecret: sealPart(dataKey, 'secret', freshWebhookSecret(), organizationId, id),
      });
    }
  });
  await stage.query(
    'update caudal.webhook_queues set failures = 3, failing_since = caudal.now() where organization_id = $1',
    [organizationId],
  );
}

it('however many failing endpoints hang, those of another organization have theirs at once', async () => {
  const [merchant, stranger] = [await stage.merchant(), await stage.merchant()];
  const elsewhere = await stranger.endpoint();
  const path = stage.newPath();
  stage.sink.answer(path, 'hang');
  await failingEndpoints(merchant, path);
  await merchant.record(1);
  await merchant.dispatched();
  // Past the rest of every one of them.
  await stage.stack.shiftTime(60_000);
  await stage.sink.receives(path, 100);
  // Until the first is given up: by then as many hang at the same time as ever will.
  const isGivenUp = async () =>
    (
      await stage.query('select from caudal.webhook_attempts where organization_id = $1 limit 1', [
        merchant.id,
      ])
    ).length > 0;
  let rounds = 0;
  for (; !(await isGivenUp()); rounds += 1) {
    const eventId = await stranger.declined();
    await stage.sink.receivesEvent(elsewhere.path, eventId, AT_ONCE_MS);
  }
  expect(rounds, 'those that hang did so all the while').toBeGreaterThan(3);
  await until('and they failed by it', async () => {
    const [row] = await stage.query<{ error: string }>(
      'select distinct error from caudal.webhook_attempts where organization_id = $1',
      [merchant.id],
    );
    return row?.error === 'timeout';
  });
}, 60_000);
