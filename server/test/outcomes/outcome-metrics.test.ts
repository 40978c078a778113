import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckoutDriver } from '../harness/checkout-driver.ts';
import { PayinDriver } from '../harness/payin-driver.ts';
import { PayoutDriver } from '../harness/payout-driver.ts';
import { cancelPayout } from '../harness/payout-requests.ts';
import { type Stack, startStack } from '../harness/stack.ts';
import { until } from '../harness/until.ts';

const HOUR_MS = 3_600_000;
const FINAL = "status in ('CONFIRMED', 'DECLINED', 'CANCELED', 'COMPLETED', 'EXPIRED')";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({
    apis: 2,
    workers: 2,
    settings: { CAUDAL_WORKER_POLL_MS: '20', CAUDAL_LOG_LEVEL: 'info' },
  });
});
afterAll(() => stack?.stop());

/** The samples above zero of a metric, summed over all processes, by their labels. */
async function readTotals(name: string): Promise<Record<string, number>> {
  const totals: Record<string, number> = {};
  for (const { opsUrl } of [...stack.apis, ...stack.workers]) {
    const text = await (await fetch(`${opsUrl}/metrics`)).text();
    for (const [, labels = '', value = ''] of text.matchAll(
      new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'),
    ))
      if (Number(value) > 0) totals[labels] = (totals[labels] ?? 0) + Number(value);
  }
  return totals;
}

/** Waits for the totals of a metric: a process counts a change after its commit. */
function waitForTotals(name: string, expected: Readonly<Record<string, number>>): Promise<boolean> {
  return until(`${name} has its totals`, async () => {
    expect(await readTotals(name)).toEqual(expected);
    return true;
  });
}

async function countRows(sql: string): Promise<Record<string, number>> {
  const rows = await stack.database.query<{ labels: string; count: number }>(sql);
  return Object.fromEntries(rows.map(({ labels, count }) => [labels, count]));
}

const ENDED_LABELS =
  "'rail=\"' || rail || '\",status=\"' || status || '\",error_code=\"' || coalesce(error_code, 'none') || '\"'";

function logLines(code: string): Record<string, unknown>[] {
  return [...stack.apis, ...stack.workers]
    .flatMap((child) => child.output().split('\n'))
    .filter((line) => line.includes(`"code":"${code}"`))
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}

/** The log line of the first request about a resource, once it is written. Later output may displace it. */
function waitForRequest(field: string, id: string): Promise<Record<string, unknown>> {
  return until('the request is logged', () =>
    Promise.resolve(logLines('request_completed').find((line) => line[field] === id)),
  );
}

describe('created and ended payments', () => {
  it('are counted and logged once, on every path', async () => {
    const payins = new PayinDriver(stack);
    const payouts = new PayoutDriver(stack);
    const checkout = new CheckoutDriver(stack);
    await payouts.fund();

    const paid = await payins.breb();
    await payins.simulator.pay({ key: paid.key });
    await payins.waitForStatus(paid.payin.id, 'CONFIRMED');
    const approved = await payins.pse();
    await payins.simulator.endTransaction({ reference: approved.reference, state: 'OK' });
    const link = await checkout.link();
    expect(await waitForRequest('paymentLinkId', link.paymentLinkId)).toMatchObject({
      route: '/payment-links',
    });
    const confirmed = await payouts.create();
    expect(await waitForRequest('payoutId', confirmed.id)).toMatchObject({ route: '/payouts' });
    await payouts.waitForStatus(confirmed.id, 'CONFIRMED');
    const refused = await payouts.create({ amountInCents: 900_000_000 });
    await payouts.waitForStatus(refused.id, 'DECLINED');
    const missing = await payouts.create({ key: '@TESTNOTFOUND' });
    await payouts.waitForStatus(missing.id, 'DECLINED');
    await stack.command('rails', 'pause', '--rail', 'BRE_B', '--by', 'ana', '--reason', 'test');
    await until(
      'all processes know the pause',
      async () => (await readTotals('caudal_rail_pauses'))['rail="BRE_B"'] === 4,
    );
    const canceled = await payouts.create();
    expect((await cancelPayout(stack.api, canceled.id)).status).toBe(200);
    await stack.command('rails', 'resume', '--rail', 'BRE_B', '--by', 'ana');
    await until(
      'all processes know the resume',
      async () => (await readTotals('caudal_rail_pauses'))['rail="BRE_B"'] === undefined,
    );
    const expired = await payins.breb();
    await stack.shiftTime(HOUR_MS + 60_000);
    await payins.waitForStatus(expired.payin.id, 'CANCELED');
    await until('all payins and links have ended', async () => {
      const [row] = await stack.database.query<{ open: number }>(
        `select ((select count(*) from caudal.payins where not (${FINAL})) + (select count(*) from caudal.payment_links where not (${FINAL})))::int as open`,
      );
      return row?.open === 0;
    });

    await waitForTotals(
      'caudal_payins_ended_total',
      await countRows(
        `select ${ENDED_LABELS} as labels, count(*)::int as count from caudal.payins where ${FINAL} group by 1`,
      ),
    );
    expect(Object.keys(await readTotals('caudal_payins_ended_total')).length).toBeGreaterThanOrEqual(3);
    await waitForTotals(
      'caudal_payins_created_total',
      await countRows(
        `select 'rail="' || rail || '"' as labels, count(*)::int as count from caudal.payins group by 1`,
      ),
    );
    await waitForTotals('caudal_payouts_created_total', { 'rail="BRE_B"': 4 });
    await waitForTotals('caudal_payouts_ended_total', {
      'rail="BRE_B",status="CONFIRMED",error_code="none"': 1,
      'rail="BRE_B",status="DECLINED",error_code="INSUFFICIENT_FUNDS"': 1,
      'rail="BRE_B",status="DECLINED",error_code="KEY_NOT_FOUND"': 1,
      'rail="BRE_B",status="CANCELED",error_code="none"': 1,
    });
    await waitForTotals('caudal_payout_outcome_seconds_count', {
      'rail="BRE_B",status="CONFIRMED"': 1,
      'rail="BRE_B",status="DECLINED"': 2,
      'rail="BRE_B",status="CANCELED"': 1,
    });
    await waitForTotals('caudal_payment_links_ended_total', { 'status="EXPIRED"': 1 });
    await waitForTotals('caudal_payment_links_created_total', { '': 1 });

    await until('the outcomes are logged', async () => {
      const counts = ['payment_link_ended', 'payin_ended', 'payout_ended'].map(
        (code) => logLines(code).length,
      );
      return counts[0] === 1 && (counts[1] ?? 0) >= 3 && (counts[2] ?? 0) >= 4;
    });
    expect(
      logLines('payout_ended').map(({ payoutId, status, errorCode }) => [payoutId, status, errorCode]),
    ).toEqual(
      expect.arrayContaining([
        [confirmed.id, 'CONFIRMED', undefined],
        [refused.id, 'DECLINED', 'INSUFFICIENT_FUNDS'],
        [missing.id, 'DECLINED', 'KEY_NOT_FOUND'],
        [canceled.id, 'CANCELED', undefined],
      ]),
    );
    expect(logLines('payout_ended')).toHaveLength(4);
    expect(logLines('payin_ended').find(({ payinId }) => payinId === approved.payin.id)).toMatchObject({
      rail: 'PSE',
      organizationId: stack.organization.organizationId,
    });
  });
});
