import { rmSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type PayoutRun, startPayouts } from '../src/payouts/payout-run.ts';
import { keepJournals, runChecker } from '../src/run/run-checker.ts';
import { type Cluster, startCluster } from '../src/stack/cluster.ts';
import { violationsAfter } from './corruption.ts';
import { PAYOUT_CORRUPTIONS, type PayoutSample } from './payout-corruptions.ts';

let cluster: Cluster;
let run: PayoutRun;
let database: Client | undefined;
let sample: PayoutSample;
let journals: string;

beforeAll(async () => {
  cluster = await startCluster();
  run = await startPayouts(cluster, 1, 40, { faultFree: true });
  await run.pay(async () => undefined);
  const { stack } = run;
  const shown = await pay('shown', '3001234500', true);
  const declined = await pay('declined', '@TESTDECLINED');
  const late = await pay('late', '@TESTDECLINED');
  await until(`status = 'DECLINED'`, late);
  await run.rails.endOrder({ endToEndId: late.endToEndId, outcome: 'SETTLED', anyway: true });
  // The pause keeps the order from being sent, so the payout can be canceled.
  await stack.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'test', '--by', 'test');
  const canceled = await payAndCancel();
  await stack.command('rails', 'resume', '--rail', 'BRE_B');
  await until(`status = 'CONFIRMED'`, shown);
  const refused = await run.client.cancel(run.payers[0], shown.id);
  if (refused?.code !== 'payout_already_sent') throw new Error('a sent payout was canceled');
  const confirmed = await pay('confirmed', '@TESTOK');
  await run.drain();
  await until(
    `exists (select from caudal.anomalies a where a.payout_id = p.id and kind = 'sent_late')`,
    late,
  );
  // The network never decides this order, so the payout stays open.
  const undecided = await pay('undecided', '@TESTTIMEOUT');
  await until(`attempts = 1 and leased_until is null`, undecided);
  journals = keepJournals(stack, run.journal.path, 'payout-checker-test');
  const [first] = await stack.query<PayoutSample['first']>(
    `select id, end_to_end_id as "endToEndId", first_sent_at as "sentAt" from caudal.payouts
     where status = 'CONFIRMED' order by id limit 1`,
  );
  if (!first) throw new Error('no payout was confirmed');
  sample = { shown, declined, canceled, confirmed, first };
  database = new Client({ connectionString: stack.databaseUrl });
  await database.connect();
});

afterAll(async () => {
  await database?.end();
  await run.end();
  await cluster.stop();
  rmSync(journals, { recursive: true, force: true });
});

describe('checker, payouts', () => {
  it('reports no violations for a correct run with an undecided payout', async () => {
    const { ok, text } = await runChecker(run.stack, run.journal.path, 'drained');
    expect(text).toMatch(
      /^checked 0 payins, \d+ payouts, \d+ executions, \d+ events, \d+ notices: no violations$/,
    );
    expect(ok).toBe(true);
  });

  it.each(PAYOUT_CORRUPTIONS)('detects that $name', async (corruption) => {
    if (!database) throw new Error('the run did not start');
    const violations = await violationsAfter(corruption, { database, journals, sample });
    expect(violations.map(({ invariant }) => invariant)).toContain(corruption.invariant);
  });
});

async function pay(name: string, key: string, lookUp = false): Promise<PayoutSample['confirmed']> {
  const [organization] = run.payers;
  const answer = await run.client.sendUntilAnswered({
    organization,
    idempotencyKey: `key-${name}`,
    reference: name,
    amountInCents: 1234,
    key,
    lookupId: lookUp ? await run.client.lookUp(organization, key) : null,
  });
  const id = answer?.payout?.id ?? '';
  const [row] = await run.stack.query<{ endToEndId: string }>(
    'select end_to_end_id as "endToEndId" from caudal.payouts where id = $1',
    [id],
  );
  return { id, endToEndId: row?.endToEndId ?? '' };
}

/** Retries, because workers see a pause a moment after the command ends; until then an order may be sent before its cancel. */
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
    const rows = await run.stack.query(`select from caudal.payouts p where id = $1 and ${condition}`, [id]);
    if (rows.length > 0) return;
    if (performance.now() > deadline) throw new Error(`the payout never reached: ${condition}`);
    await sleep(100);
  }
}
