import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { LinkScenario } from '../src/planted/link-scenario.ts';
import { type Stage, startStage } from '../src/stage.ts';
import type { Verdict } from '../src/verdict.ts';
import { violationsUnder } from './damage.ts';
import { LINK_DAMAGES } from './link-damages.ts';

let cluster: Cluster;
let stage: Stage;
let scenario: LinkScenario;
let database: Client | undefined;
let journals: string;
let verdict: Verdict;

beforeAll(async () => {
  cluster = await startCluster();
  stage = await startStage(cluster);
  scenario = await LinkScenario.on(stage);
  // In full, by half and by twice the amount.
  for (const share of [1, 0.5, 2]) {
    const link = await scenario.link(share !== 1);
    await scenario.begin(link);
    await scenario.payAttempt(link, share);
    await scenario.settled(link);
  }
  const closed = await scenario.link();
  await scenario.begin(closed);
  await scenario.close(closed);
  await scenario.link();
  verdict = await scenario.verdict();
  journals = scenario.keepJournals('link-checker-test');
  database = new Client({ connectionString: stage.databaseUrl });
  await database.connect();
}, 150_000);

afterAll(async () => {
  await database?.end();
  await stage.stop();
  await scenario.end();
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
