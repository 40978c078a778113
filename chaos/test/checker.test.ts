import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { violationsOf } from '../src/checker/check.ts';
import { readRailFacts } from '../src/checker/rail-facts.ts';
import { queryOn, readRows } from '../src/checker/rows.ts';
import { readTold } from '../src/checker/told.ts';
import { worldOf } from '../src/checker/world.ts';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { startTrial, type Trial } from '../src/trial.ts';
import { DAMAGES, type Damage, type Line, type Sample } from './damages.ts';

let cluster: Cluster;
let trial: Trial;
let database: Client;
let sample: Sample;
let journals: string;
const scratch = mkdtempSync(join(tmpdir(), 'caudal-checker-'));

/** What each damage needs to find something to spoil. */
const ENOUGH = `
  select (select count(*) from caudal.payins where status = 'CONFIRMED') > 15
    and exists (select from caudal.breb_keys k join caudal.payins p on p.id = k.payin_id where p.error_code = 'EXPIRED')
    and exists (select from caudal.payins where status = 'DECLINED' and rail = 'BRE_B')
    and exists (select from caudal.anomalies where kind = 'contradiction')
    and (select count(*) from caudal.anomalies where amount_in_cents is not null and payin_id is not null) > 1 as enough`;

beforeAll(async () => {
  cluster = await startCluster();
  trial = await startTrial(cluster, 1, { gentle: true });
  const { stage, operator } = trial;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const [row] = await stage.query<{ enough: boolean }>(ENOUGH);
    if (row?.enough) break;
    if (performance.now() > deadline) throw new Error('the load did not bring about enough to spoil');
    await sleep(200);
  }
  await trial.load.pause();
  await operator.give(operator.deposit());
  const resolve = await operator.resolve();
  if (resolve) await operator.give(resolve);
  await trial.drain();
  await operator.give(operator.schedule('settlement'));
  journals = trial.keepJournals();
  sample = await sampleOf(trial);
  database = new Client({ connectionString: stage.databaseUrl });
  await database.connect();
}, 150_000);

afterAll(async () => {
  await database.end();
  await trial.end();
  await cluster.stop();
  rmSync(scratch, { recursive: true, force: true });
  rmSync(journals, { recursive: true, force: true });
});

describe('the checker', () => {
  it('finds a sound run whole', async () => {
    const { whole, text } = await trial.judge('drained');
    expect(text).toMatch(/^checked \d+ payins, \d+ executions, \d+ events, \d+ notices: whole$/);
    expect(whole).toBe(true);
  });

  it.each(DAMAGES)('sees when $name', async (damage) => {
    const violations = await violationsUnder(damage);
    expect(violations.map(({ promise }) => promise)).toContain(damage.promise);
  });

  it('ends with 1 and names the row when something is broken', async () => {
    await database.query(
      `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'available'`,
    );
    const { whole, text } = await trial.judge('drained');
    await database.query(
      `update caudal.ledger_balances set balance_in_cents = balance_in_cents - 1 where account = 'available'`,
    );
    expect(whole).toBe(false);
    expect(text).toContain('VIOLATION  balances add up: a balance is not the sum of its transfers');
    expect(text).toContain(trial.stage.organization.organizationId);
  });
});

async function violationsUnder(damage: Damage) {
  const clientPath = rewritten('client.jsonl', damage.client);
  const railPath = rewritten(
    'simulator.jsonl',
    damage.rail && ((lines) => damage.rail?.(lines, sample) ?? lines),
  );
  await database.query('begin');
  try {
    if (damage.sql !== undefined) await database.query(damage.sql);
    const rows = await readRows(queryOn(database));
    return violationsOf(
      worldOf({ told: readTold(clientPath), rail: readRailFacts(railPath), rows, drained: true }),
    );
  } finally {
    await database.query('rollback');
  }
}

function rewritten(name: string, rewrite: ((lines: readonly Line[]) => readonly Line[]) | undefined): string {
  const path = join(journals, name);
  if (!rewrite) return path;
  const lines = readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((text) => JSON.parse(text) as Line);
  const damaged = join(scratch, name);
  writeFileSync(
    damaged,
    `${rewrite(lines)
      .map((line) => JSON.stringify(line))
      .join('\n')}\n`,
  );
  return damaged;
}

/** Payins of the run, each with the one fact that a damage takes away. */
async function sampleOf({ stage }: Trial): Promise<Sample> {
  const one = async (where: string) =>
    (
      await stage.query<{ breb_key: string }>(
        `select breb_key from caudal.payins where rail = 'BRE_B' and ${where} order by id limit 1`,
      )
    )[0]?.breb_key ?? '';
  return {
    expiredKey: await one(`error_code = 'EXPIRED'`),
    declinedKey: await one(
      `status = 'DECLINED' and exists (select from caudal.breb_keys k where k.key = breb_key and k.refusal is null)`,
    ),
    paidKey: await one(`status = 'CONFIRMED'`),
  };
}
