import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../src/cluster.ts';
import { type PayoutRun, startPayouts } from '../src/payout-run.ts';
import { judge, keepJournals } from '../src/verdict.ts';
import { violationsUnder } from './damage.ts';
import { PAYOUT_DAMAGES, type PayoutSample } from './payout-damages.ts';

let cluster: Cluster;
let run: PayoutRun;
let database: Client | undefined;
let sample: PayoutSample;
let journals: string;

beforeAll(async () => {
  cluster = await startCluster();
  run = await startPayouts(cluster, 1, 40, { calm: true });
  await run.pay(async () => undefined);
  const { stage } = run;
  const shown = await pay('shown', '3001234500', true);
  const declined = await pay('declined', '@TESTDECLINED');
  const late = await pay('late', '@TESTDECLINED');
  await until(`status = 'DECLINED'`, late);
  await run.rails.endOrder({ endToEndId: late.endToEndId, outcome: 'SETTLED', anyway: true });
  // Nothing leaves meanwhile, so it can be canceled.
  await stage.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'test', '--by', 'test');
  const canceled = await payAndCancel();
  await stage.command('rails', 'resume', '--rail', 'BRE_B');
  await until(`status = 'CONFIRMED'`, shown);
  const refused = await run.client.cancel(run.payers[0], shown.id);
  if (refused?.code !== 'payout_already_sent') throw new Error('a payout that was sent could be canceled');
  const confirmed = await pay('confirmed', '@TESTOK');
  await run.rest();
  await until(
    `exists (select from caudal.anomalies a where a.payout_id = p.id and kind = 'sent_late')`,
    late,
  );
  // Open for ever, and rightly so.
  const undecided = await pay('undecided', '@TESTTIMEOUT');
  await until(`attempts = 1 and leased_until is null`, undecided);
  journals = keepJournals(stage, run.journal.path, 'payout-checker-test');
  const [first] = await stage.query<PayoutSample['first']>(
    `select id, end_to_end_id as "endToEndId", first_sent_at as "sentAt" from caudal.payouts
     where status = 'CONFIRMED' order by id limit 1`,
  );
  if (!first) throw new Error('nothing was confirmed');
  sample = { shown, declined, canceled, confirmed, first };
  database = new Client({ connectionString: stage.databaseUrl });
  await database.connect();
}, 150_000);

afterAll(async () => {
  await database?.end();
  await run.end();
  await cluster.stop();
  rmSync(journals, { recursive: true, force: true });
});

describe('the checker, of payouts', () => {
  it('finds a sound run whole, with an open payout to a key that is never decided', async () => {
    const { whole, text } = await judge(run.stage, run.journal.path, 'at rest');
    expect(text).toMatch(/^checked 0 payins, \d+ payouts, \d+ executions, \d+ events, \d+ notices: whole$/);
    expect(whole).toBe(true);
  });

  it.each(PAYOUT_DAMAGES)('sees when $name', async (damage) => {
    if (!database) throw new Error('there is no run to spoil');
    const violations = await violationsUnder(damage, { database, journals, sample });
    expect(violations.map(({ promise }) => promise)).toContain(damage.promise);
  });
});

async function pay(name: string, key: string, lookUp = false): Promise<PayoutSample['confirmed']> {
  const [organization] = run.payers;
  const answer = await run.client.insist({
    organization,
    idempotencyKey: `key-${name}`,
    reference: name,
    amountInCents: 1234,
    key,
    lookupId: lookUp ? await run.client.lookUp(organization, key) : null,
  });
  const id = answer?.payout?.id ?? '';
  const [row] = await run.stage.query<{ endToEndId: string }>(
    'select end_to_end_id as "endToEndId" from caudal.payouts where id = $1',
    [id],
  );
  return { id, endToEndId: row?.endToEndId ?? '' };
}

/** Workers hear of a pause a moment after the command has ended; until then a payout may leave before its cancel. */
async function payAndCancel(): Promise<PayoutSample['canceled']> {
  const deadline = performance.now() + 30_000;
  for (let tries = 1; performance.now() < deadline; tries += 1) {
    const payout = await pay(`canceled-${tries}`, '@TESTOK');
    const answer = await run.client.cancel(run.payers[0], payout.id);
    if (answer?.status === 200) return payout;
  }
  throw new Error('no payout could be canceled');
}

async function until(condition: string, { id }: PayoutSample['confirmed']): Promise<void> {
  const deadline = performance.now() + 30_000;
  for (;;) {
    const rows = await run.stage.query(`select from caudal.payouts p where id = $1 and ${condition}`, [id]);
    if (rows.length > 0) return;
    if (performance.now() > deadline) throw new Error(`the payout never came to: ${condition}`);
    await sleep(100);
  }
}
