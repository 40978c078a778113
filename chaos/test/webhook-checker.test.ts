import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSinks } from '../src/checker/sink-journal.ts';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { judge, keepJournals } from '../src/verdict.ts';
import { startWebhooks, type WebhookRun } from '../src/webhook-run.ts';
import { type Damage, violationsUnder } from './damage.ts';
import { again, died, later, ONCE, WEBHOOK_DAMAGES, type WebhookSample } from './webhook-damages.ts';

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
    // So nothing excused a repeat but a replay.
    expect(readFileSync(join(journals, 'incidents.jsonl'), 'utf8')).toBe('');
  });

  it.each(WEBHOOK_DAMAGES)('sees when $name', async (damage) => {
    if (!database) throw new Error('there is no run to spoil');
    const violations = await violationsUnder(damage, { database, journals, sample });
    expect(violations.map(({ promise, what }) => `${promise}: ${what}`)).toContain(
      `${damage.promise}: ${damage.what}`,
    );
  });

  it.each<[string, (at: (ms: number) => string) => Partial<Damage<WebhookSample>>]>([
    ['a worker died', (at) => ({ incidents: () => [died(at(30_000))] })],
    [
      'a worker died whose last words were read a moment later',
      (at) => ({ incidents: () => [died(at(-500))] }),
    ],
    [
      'the database was away',
      (at) => ({ incidents: () => [{ kind: 'database away', from: at(-9000), until: at(100) }] }),
    ],
    [
      'it was replayed',
      (at) => ({
        client: (lines) => [...lines, { kind: 'replay asked', at: at(30_000), eventId: sample.eventId }],
      }),
    ],
  ])('lets an acknowledged event come again when %s', async (_what, excuse) => {
    if (!database) throw new Error('there is no run to spoil');
    const { received } = readSinks(join(journals, 'sinks.jsonl'));
    const first = received.find(({ id, sink }) => id === sample.eventId && sink === sample.sink);
    const at = (ms: number) => new Date(Date.parse(first?.at ?? '') + ms).toISOString();
    const damage = { name: '', promise: ONCE, sinks: again((line) => ({ at: later(line, 60_000) })) };
    const violations = await violationsUnder({ ...damage, ...excuse(at) }, { database, journals, sample });
    expect(violations.filter(({ promise }) => promise === ONCE)).toEqual([]);
  });
});
