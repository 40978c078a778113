import { rmSync } from 'node:fs';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LinkScenario } from '../src/planted/link-scenario.ts';
import type { CheckResult } from '../src/run/run-checker.ts';
import { type Cluster, startCluster } from '../src/stack/cluster.ts';
import { type Stack, startStack } from '../src/stack/stack.ts';
import { violationsAfter } from './corruption.ts';
import { LINK_CORRUPTIONS } from './link-corruptions.ts';
import { SCREEN_CORRUPTIONS } from './screen-corruptions.ts';

let cluster: Cluster;
let stack: Stack;
let scenario: LinkScenario;
let database: Client | undefined;
let journals: string;
let result: CheckResult;

beforeAll(async () => {
  cluster = await startCluster();
  stack = await startStack(cluster);
  scenario = await LinkScenario.on(stack);
  // Pays the full amount, half of it and twice the amount.
  for (const share of [1, 0.5, 2]) {
    const link = await scenario.link(share !== 1);
    await scenario.start(link);
    await scenario.openPage(link);
    await scenario.payAttempt(link, share);
    await scenario.settled(link);
    await scenario.openPage(link);
  }
  const closed = await scenario.link();
  await scenario.start(closed);
  await scenario.close(closed);
  await scenario.link();
  // Pays a link in two halves.
  const halves = await scenario.link();
  for (const share of [0.5, 0.5]) {
    await scenario.start(halves);
    await scenario.payAttempt(halves, share);
    await scenario.settled(halves);
  }
  result = await scenario.drainAndCheck();
  journals = scenario.keepJournals('link-checker-test');
  database = new Client({ connectionString: stack.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database?.end();
  await stack.stop();
  await scenario.end();
  await cluster.stop();
  rmSync(journals, { recursive: true, force: true });
});

describe('checker, payment links', () => {
  it('reports no violations for a correct run', () => {
    expect(result.text).toMatch(
      /^checked 6 payins, 0 payouts, 6 links, 6 screens \(3 key, 2 completed, 1 parts\), 5 executions, 6 events, .*: no violations$/,
    );
    expect(result.ok).toBe(true);
  });

  it.each([...LINK_CORRUPTIONS, ...SCREEN_CORRUPTIONS])('detects that $name', async (corruption) => {
    if (!database) throw new Error('the run did not start');
    const violations = await violationsAfter(corruption, { database, journals, sample: null });
    expect(violations.map(({ invariant, detail }) => `${invariant}: ${detail}`)).toContain(
      `${corruption.invariant}: ${corruption.detail}`,
    );
  });
});
