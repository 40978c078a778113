import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readSinks } from '../src/checker/sink-journal.ts';
import { keepJournals, runChecker } from '../src/run/run-checker.ts';
import { type Cluster, startCluster } from '../src/stack/cluster.ts';
import { startWebhooks, type WebhookRun } from '../src/webhooks/webhook-run.ts';
import { type Corruption, violationsAfter } from './corruption.ts';
import {
  died,
  later,
  NOT_RESENT,
  resend,
  WEBHOOK_CORRUPTIONS,
  type WebhookSample,
} from './webhook-corruptions.ts';

let cluster: Cluster;
let run: WebhookRun;
let database: Client | undefined;
let sample: WebhookSample;
let journals: string;

/** A payout event of the second merchant, delivered at the first attempt to its endpoint for all events. */
const SAMPLE = `
  select d.event_id as "eventId" from caudal.webhook_deliveries d
  join caudal.webhook_endpoints w on w.id = d.endpoint_id
  join caudal.events e on e.id = d.event_id and e.resource = 'payout'
  where w.description = 'm2-all' and d.attempts = 1 and d.attempts_before = 0 order by d.event_id limit 1`;

beforeAll(async () => {
  cluster = await startCluster();
  run = await startWebhooks(cluster, 1, 40, { faultFree: true });
  await run.execute(async () => undefined);
  await run.drain();
  const { stack, journal, sinks } = run;
  journals = keepJournals(stack, journal.path, 'webhook-checker-test', sinks.journal);
  const [event] = await stack.query<{ eventId: string }>(SAMPLE);
  if (!event) throw new Error('no event was delivered');
  sample = { ...event, sink: 'm2-all' };
  database = new Client({ connectionString: stack.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database?.end();
  await run.end();
  await cluster.stop();
  rmSync(journals, { recursive: true, force: true });
});

describe('checker, webhooks', () => {
  it('reports no violations for a correct run', async () => {
    const { ok, text } = await runChecker(run.stack, run.journal.path, 'drained', run.sinks.journal);
    expect(text).toMatch(/^checked .*, \d+ requests to endpoints: no violations$/);
    expect(ok).toBe(true);
    expect(run.failures()).toEqual([]);
    // Without incidents, only a replay explains a repeated delivery.
    expect(readFileSync(join(journals, 'incidents.jsonl'), 'utf8')).toBe('');
  });

  it.each(WEBHOOK_CORRUPTIONS)('detects that $name', async (corruption) => {
    if (!database) throw new Error('the run did not start');
    const violations = await violationsAfter(corruption, { database, journals, sample });
    expect(violations.map(({ invariant, detail }) => `${invariant}: ${detail}`)).toContain(
      `${corruption.invariant}: ${corruption.detail}`,
    );
  });

  it.each<[string, (at: (ms: number) => string) => Partial<Corruption<WebhookSample>>]>([
    ['a worker died', (at) => ({ incidents: () => [died(at(30_000))] })],
    [
      'the sink read the request shortly after its worker died',
      (at) => ({ incidents: () => [died(at(-500))] }),
    ],
    [
      'the database was down',
      (at) => ({ incidents: () => [{ kind: 'database_down', from: at(-9000), until: at(100) }] }),
    ],
    [
      'the event was replayed',
      (at) => ({
        client: (lines) => [...lines, { kind: 'replay_requested', at: at(30_000), eventId: sample.eventId }],
      }),
    ],
  ])('accepts a resent acknowledged event when %s', async (_case, excuse) => {
    if (!database) throw new Error('the run did not start');
    const { received } = readSinks(join(journals, 'sinks.jsonl'));
    const first = received.find(({ id, sink }) => id === sample.eventId && sink === sample.sink);
    const at = (ms: number) => new Date(Date.parse(first?.at ?? '') + ms).toISOString();
    const corruption = {
      name: '',
      invariant: NOT_RESENT,
      sinks: resend((line) => ({ at: later(line, 60_000) })),
    };
    const violations = await violationsAfter(
      { ...corruption, ...excuse(at) },
      { database, journals, sample },
    );
    expect(violations.filter(({ invariant }) => invariant === NOT_RESENT)).toEqual([]);
  });
});
