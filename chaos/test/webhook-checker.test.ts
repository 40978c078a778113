import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { judge, keepJournals } from '../src/verdict.ts';
import { startWebhooks, type WebhookRun } from '../src/webhook-run.ts';
import { violationsUnder } from './damage.ts';
import { WEBHOOK_DAMAGES, type WebhookSample } from './webhook-damages.ts';

let cluster: Cluster;
let run: WebhookRun;
let database: Client | undefined;
let sample: WebhookSample;
let journals: string;

/** One of the second merchant, who was told of it once, by an endpoint that gets everything. */
const SAMPLE = `
  select d.event_id as "eventId" from caudal.webhook_deliveries d
  join caudal.webhook_endpoints w on w.id = d.endpoint_id
  join caudal.events e on e.id = d.event_id and e.resource = 'payout'
  where w.description = 'm2-all' and d.attempts = 1 and d.attempts_before = 0 order by d.event_id limit 1`;

beforeAll(async () => {
  cluster = await startCluster();
  run = await startWebhooks(cluster, 1, 40, { calm: true });
  await run.live(async () => undefined);
  await run.rest();
  const { stage, journal, sinks } = run;
  journals = keepJournals(stage, journal.path, 'webhook-checker-test', sinks.journal);
  const [event] = await stage.query<{ eventId: string }>(SAMPLE);
  if (!event) throw new Error('nobody was told of anything');
  sample = { ...event, sink: 'm2-all' };
  database = new Client({ connectionString: stage.databaseUrl });
  await database.connect();
}, 150_000);

afterAll(async () => {
  await database?.end();
  await run.end();
  await cluster.stop();
  rmSync(journals, { recursive: true, force: true });
});

describe('the checker, of webhooks', () => {
  it('finds a sound run whole', async () => {
    const { whole, text } = await judge(run.stage, run.journal.path, 'at rest', run.sinks.journal);
    expect(text).toMatch(/^checked .*, \d+ requests to endpoints: whole$/);
    expect(whole).toBe(true);
    expect(run.failures()).toEqual([]);
  });

  it.each(WEBHOOK_DAMAGES)('sees when $name', async (damage) => {
    if (!database) throw new Error('there is no run to spoil');
    const violations = await violationsUnder(damage, { database, journals, sample });
    expect(violations.map(({ promise, what }) => `${promise}: ${what}`)).toContain(
      `${damage.promise}: ${damage.what}`,
    );
  });
});
