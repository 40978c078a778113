import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { startTrial, type Trial } from '../src/trial.ts';
import { violationsUnder } from './damage.ts';
import { DAMAGES, type Sample } from './damages.ts';

let cluster: Cluster;
let trial: Trial;
let database: Client;
let sample: Sample;
let journals: string;

/** What each damage needs to find something to spoil. */
const ENOUGH = `
  select (select count(*) from caudal.payins where status = 'CONFIRMED') > 15
    and exists (select from caudal.breb_keys k join caudal.payins p on p.id = k.payin_id where p.error_code = 'EXPIRED')
    and exists (select from caudal.payins where status = 'DECLINED' and rail = 'BRE_B' and error_code <> 'UNDERPAID')
    and exists (select from caudal.payins where error_code = 'UNDERPAID' and confirmed_amount_in_cents > 1)
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
  rmSync(journals, { recursive: true, force: true });
});

describe('the checker', () => {
  it('finds a sound run whole', async () => {
    const { whole, text } = await trial.judge('drained');
    expect(text).toMatch(/^checked \d+ payins, 0 payouts, \d+ executions, \d+ events, \d+ notices: whole$/);
    expect(whole).toBe(true);
  });

  it.each(DAMAGES)('sees when $name', async (damage) => {
    const violations = await violationsUnder(damage, { database, journals, sample });
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
      `status = 'DECLINED' and error_code <> 'UNDERPAID' and exists (select from caudal.breb_keys k where k.key = breb_key and k.refusal is null)`,
    ),
    paidKey: await one(`status = 'CONFIRMED'`),
  };
}
