import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../harness/until.ts';
import { type MadeEndpoint, WebhookStage } from './webhook-stage.ts';

const HOUR = 3_600_000;

let stage: WebhookStage;
beforeAll(async () => {
  stage = await WebhookStage.open();
});
afterAll(() => stage?.close());

async function attemptsOf({ id }: MadeEndpoint): Promise<number> {
  const [row] = await stage.query<{ count: number }>(
    'select count(*)::int as count from caudal.webhook_attempts where endpoint_id = $1',
    [id],
  );
  return row?.count ?? 0;
}

it('a receiver that is down for three days has everything once it is back, nothing missing and nothing made up', async () => {
  const merchant = await stage.merchant();
  const endpoint = await merchant.endpoint();
  const before = await merchant.declined();
  await stage.sink.receivesEvent(endpoint.path, before);
  await stage.sink.close();
  const missed: string[] = [];
  for (let hours = 0; hours < 72; hours += 12) {
    missed.push(...(await merchant.record(20)));
    await merchant.dispatched();
    const tried = await attemptsOf(endpoint);
    await stage.stack.shiftTime(12 * HOUR);
    await until('it was tried in vain', async () => (await attemptsOf(endpoint)) > tried);
  }
  const [first = ''] = missed;
  const { attempts } = (await merchant.delivery(first, endpoint)) ?? { attempts: [] };
  expect(attempts[0]).toMatchObject({ statusCode: null, error: 'connect' });
  expect((await merchant.get(endpoint)).status).toBe('ENABLED');
  await stage.sink.open();
  await until('all of it has come', async () => {
    await stage.stack.shiftTime(HOUR);
    return stage.sink.ids(endpoint.path).length === missed.length + 1;
  });
  expect(stage.sink.ids(endpoint.path)).toEqual([before, ...missed].sort());
  for (const eventId of missed) await merchant.reaches(eventId, endpoint, 'DELIVERED');
}, 60_000);
