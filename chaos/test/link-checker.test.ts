import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { LinkDrill } from '../src/planted/link-drill.ts';
import { type Stage, startStage } from '../src/stage.ts';
import type { Verdict } from '../src/verdict.ts';
import { violationsUnder } from './damage.ts';
import { LINK_DAMAGES } from './link-damages.ts';

let cluster: Cluster;
let stage: Stage;
let drill: LinkDrill;
let database: Client | undefined;
let journals: string;
let verdict: Verdict;

beforeAll(async () => {
  cluster = await startCluster();
  stage = await startStage(cluster);
  drill = await LinkDrill.on(stage);
  // In full, by half and by twice the amount.
  for (const share of [1, 0.5, 2]) {
    const link = await drill.link(share !== 1);
    await drill.begin(link);
    await drill.payAttempt(link, share);
    await drill.settled(link);
  }
  const closed = await drill.link();
  await drill.begin(closed);
  await drill.close(closed);
  await drill.link();
  verdict = await drill.verdict();
  journals = drill.keepJournals('link-checker-test');
  database = new Client({ connectionString: stage.databaseUrl });
  await database.connect();
}, 150_000);

afterAll(async () => {
  await database?.end();
  await stage.stop();
  await drill.end();
  await cluster.stop();
  rmSync(journals, { recursive: true, force: true });
});

describe('the checker, of links', () => {
  it('finds a sound run whole', () => {
    expect(verdict.text).toMatch(/^checked 4 payins, 0 payouts, 5 links, 3 executions, 5 events, .*: whole$/);
    expect(verdict.whole).toBe(true);
  });

  it.each(LINK_DAMAGES)('sees when $name', async (damage) => {
    if (!database) throw new Error('there is no run to spoil');
    const violations = await violationsUnder(damage, { database, journals, sample: null });
    expect(violations.map(({ promise, what }) => `${promise}: ${what}`)).toContain(
      `${damage.promise}: ${damage.what}`,
    );
  });
});
