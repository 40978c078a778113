import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { type CreatedEndpoint, WebhookStage } from './webhook-stage.ts';

const HOUR = 3_600_000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

async function countAttempts({ id }: CreatedEndpoint): Promise<number> {
  const [row] = await stage.query<{ count: number }>(
    'select count(*)::int as count from caudal.webhook_attempts where endpoint_id = $1',
    [id],
  );
  return row?.count ?? 0;
}

it('a receiver that was down for three days gets every event exactly once it is back', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint();
  const before = await merchant.declinePayout();
  await stage.sink.waitForEvent(endpoint.path, before);
  await stage.sink.close();
  const missed: string[] = [];
  for (let hours = 0; hours < 72; hours += 12) {
    missed.push(...(await merchant.record(20)));
    await merchant.waitUntilDispatched();
    const tried = await countAttempts(endpoint);
    await stage.stack.shiftTime(12 * HOUR);
    await until('an attempt failed', async () => (await countAttempts(endpoint)) > tried);
  }
  const [first = ''] = missed;
  const { attempts } = (await merchant.delivery(first, endpoint)) ?? { attempts: [] };
  expect(attempts[0]).toMatchObject({ statusCode: null, error: 'connect' });
  expect((await merchant.get(endpoint)).status).toBe('ENABLED');
  await stage.sink.open();
  await until('all events arrived', async () => {
    await stage.stack.shiftTime(HOUR);
    return stage.sink.ids(endpoint.path).length === missed.length + 1;
  });
  expect(stage.sink.ids(endpoint.path)).toEqual([before, ...missed].sort());
  for (const eventId of missed) await merchant.waitForDelivery(eventId, endpoint, 'DELIVERED');
});
