import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openClientJournal } from '../src/clients/client-journal.ts';
import { type Acknowledgment, Acknowledgments } from '../src/failover/acknowledgments.ts';
import { Executions, findLost } from '../src/failover/compare.ts';
import { FAULTS, type FaultName } from '../src/failover/faults.ts';
import { planFaults } from '../src/failover/run-failovers.ts';
import { formatTable, percentile } from '../src/failover/table.ts';
import { randomFrom } from '../src/run/random.ts';
import { type Cluster, startCluster } from '../src/stack/cluster.ts';

const folder = mkdtempSync(join(tmpdir(), 'caudal-failover-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the comparison after a failover', () => {
  let cluster: Cluster;
  let client: Client;
  const ID = '01890000-0000-7000-8000-000000000001';
  const ORGANIZATION = '01890000-0000-7000-8000-0000000000aa';
  const acknowledged: Acknowledgment = {
    kind: 'payin',
    atMs: 1,
    id: ID,
    organizationId: ORGANIZATION,
    reference: 'order-1',
    amountInCents: 150_000,
  };
  const lost = (acknowledgment: Acknowledgment) =>
    findLost(async (text, values) => (await client.query(text, [...(values ?? [])])).rows, [acknowledgment]);

  beforeAll(async () => {
    cluster = await startCluster();
    client = new Client({ connectionString: cluster.url(await cluster.clone()) });
    await client.connect();
    // Only the acknowledged columns matter, so the row needs none of the others.
    await client.query('alter schema caudal rename to migrated');
    await client.query(`create schema caudal
      create table payins (id uuid, organization_id uuid, reference text, amount_in_cents bigint)
      create table payouts (id uuid, organization_id uuid, reference text, amount_in_cents bigint)`);
    await client.query('insert into caudal.payins values ($1, $2, $3, $4)', [
      ID,
      ORGANIZATION,
      'order-1',
      150_000,
    ]);
  });

  afterAll(async () => {
    await client.end();
    await cluster.stop();
  });

  it('finds a creation that is stored as acknowledged', async () => {
    expect(await lost(acknowledged)).toEqual([]);
  });

  it.each([
    { id: '01890000-0000-7000-8000-000000000002' },
    { organizationId: '01890000-0000-7000-8000-0000000000ab' },
    { reference: 'order-2' },
    { amountInCents: 150_001 },
    { kind: 'payout' },
  ] as const)('reports a creation that is missing or differs: %o', async (difference) => {
    const other = { ...acknowledged, ...difference };
    expect(await lost(other)).toEqual([other]);
  });
});

describe('acknowledged creations', () => {
  const sent = (attempt: number, reference: string) =>
    ({
      kind: 'sent',
      attempt,
      api: '',
      organizationId: 'o',
      idempotencyKey: null,
      reference,
      amountInCents: 5,
      rail: 'PSE',
      bodyHash: '',
    }) as const;
  const answered = (attempt: number, status: number, id: string | null) =>
    ({
      kind: 'answered',
      attempt,
      status,
      code: null,
      payin: id === null ? null : { id, reference: '', amountInCents: 5, rail: 'PSE', key: null },
    }) as const;

  it('are those with a payin in the response, each once, with the requested content', () => {
    const acknowledgments = new Acknowledgments();
    const journal = acknowledgments.watch(openClientJournal(join(folder, 'client.jsonl')));
    for (const line of [sent(1, 'a'), sent(2, 'b'), sent(3, 'a')]) journal.write(line);
    for (const line of [answered(1, 201, 'id-a'), answered(2, 503, null), answered(3, 201, 'id-a')])
      journal.write(line);
    journal.close();
    expect(acknowledgments.all).toMatchObject([
      { kind: 'payin', id: 'id-a', reference: 'a', amountInCents: 5 },
    ]);
  });

  it('give the longest period without a payin, also at the start and at the end', () => {
    const acknowledgments = new Acknowledgments();
    for (const atMs of [90, 100, 130, 190])
      acknowledgments.all.push({ kind: 'payin', atMs } as Acknowledgment);
    // Accepted also while the rails are paused after a failover.
    acknowledgments.all.push({ kind: 'payout', atMs: 195 } as Acknowledgment);
    expect(acknowledgments.lastPayinAtMs).toBe(190);
    expect(acknowledgments.longestGapMs(95, 200)).toBe(60);
    expect(acknowledgments.longestGapMs(95, 300)).toBe(110);
    expect(acknowledgments.longestGapMs(0, 91)).toBe(90);
  });
});

describe("the simulator's executions", () => {
  it('are reported when an order is executed again, also across reads and incomplete lines', () => {
    const path = join(folder, 'simulator.jsonl');
    const line = (endToEndId: string) =>
      `${JSON.stringify({ kind: 'breb.executed', endToEndId, name: 'Ñ' })}\n`;
    writeFileSync(path, line('e1') + line('e2').slice(0, 20));
    const executions = new Executions(path);
    expect(executions.readDuplicates()).toEqual([]);
    appendFileSync(path, line('e2').slice(20) + line('e1'));
    expect(executions.readDuplicates()).toEqual(['e1']);
    expect(executions.readDuplicates()).toEqual([]);
    expect(executions.count).toBe(2);
  });
});

describe('the plan of faults', () => {
  it('contains the requested number of failovers, and every fault in each round', () => {
    const plan = planFaults(randomFrom(1), 21, null);
    expect(plan.filter((name) => FAULTS[name].movesPrimary)).toHaveLength(21);
    for (const name of Object.keys(FAULTS) as FaultName[])
      expect(plan.filter((planned) => planned === name).length).toBeGreaterThanOrEqual(2);
  });

  it('contains different faults in a short run', () => {
    expect(new Set(planFaults(randomFrom(2), 3, null)).size).toBeGreaterThanOrEqual(3);
  });
});

describe('the table', () => {
  it('has percentiles by the nearest rank', () => {
    expect(percentile([3, 1, 2, 4], 0.5)).toBe(2);
    expect(percentile([3, 1, 2, 4], 0.95)).toBe(4);
    expect(percentile([3, 1, 2, 4], 0)).toBe(1);
  });

  it('has a row per fault and one for all', () => {
    const result = {
      title: 'a',
      electionMs: 0,
      outageMs: 1500,
      acknowledged: 1200,
      lost: 0,
      executedTwice: 0,
      refusedDirectWrites: 3,
    };
    expect(
      formatTable([result, { ...result, outageMs: 2500, lost: 1 }], ['b', 'a'])
        .split('\n')
        .slice(2),
    ).toEqual([
      '| a | 2 | 1.5 s | 1.5 s | 2.5 s | 2.5 s | 2,400 | 1 | 0 | 6 |',
      '| all | 2 | 1.5 s | 1.5 s | 2.5 s | 2.5 s | 2,400 | 1 | 0 | 6 |',
    ]);
  });
});
