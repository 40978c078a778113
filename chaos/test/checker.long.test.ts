import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTrial, type Trial } from '../src/run/trial.ts';
import { type Cluster, startCluster } from '../src/stack/cluster.ts';
import { violationsAfter } from './corruption.ts';
import { PAYIN_CORRUPTIONS, type Sample } from './payin-corruptions.ts';

let cluster: Cluster;
let trial: Trial;
let database: Client;
let sample: Sample;
let journals: string;

/** The data that the corruptions need. */
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
  const { stack, operator } = trial;
  const deadline = performance.now() + 60_000;
  for (;;) {
    const [row] = await stack.query<{ enough: boolean }>(ENOUGH);
    if (row?.enough) break;
    if (performance.now() > deadline) throw new Error('the load did not produce enough data');
    await sleep(200);
  }
  await trial.load.pause();
  await operator.run(operator.deposit());
  const resolve = await operator.resolve();
  if (resolve) await operator.run(resolve);
  await trial.drain();
  await operator.run(operator.schedule('settlement'));
  journals = trial.keepJournals();
  sample = await findSample(trial);
  database = new Client({ connectionString: stack.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database.end();
  await trial.end();
  await cluster.stop();
  rmSync(journals, { recursive: true, force: true });
});

describe('checker, payins', () => {
  it('reports no violations for a correct run', async () => {
    const { ok, text } = await trial.runChecker('drained');
    expect(text).toMatch(
      /^checked \d+ payins, 0 payouts, \d+ executions, \d+ events, \d+ notices: no violations$/,
    );
    expect(ok).toBe(true);
  });

  it.each(PAYIN_CORRUPTIONS)('detects that $name', async (corruption) => {
    const violations = await violationsAfter(corruption, { database, journals, sample });
    expect(violations.map(({ invariant }) => invariant)).toContain(corruption.invariant);
  });

  it('exits with 1 and prints the row of a violation', async () => {
    await database.query(
      `update caudal.ledger_balances set balance_in_cents = balance_in_cents + 1 where account = 'available'`,
    );
    const { ok, text } = await trial.runChecker('drained');
    await database.query(
      `update caudal.ledger_balances set balance_in_cents = balance_in_cents - 1 where account = 'available'`,
    );
    expect(ok).toBe(false);
    expect(text).toContain(
      'VIOLATION  balances_match_transfers: a balance differs from the sum of its transfers',
    );
    expect(text).toContain(trial.stack.organization.organizationId);
  });
});

/** Finds the payins of the run that corruptions target. */
async function findSample({ stack }: Trial): Promise<Sample> {
  const one = async (where: string) =>
    (
      await stack.query<{ breb_key: string }>(
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
