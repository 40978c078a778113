import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadHistory } from '../../../bench/src/growth/load.ts';
import type { Tx } from '../../src/db/tx.ts';
import { listPayins, type PayinFilters } from '../../src/payins/payin-list.store.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { listPage, type PayinPage } from '../harness/payin-answers.ts';
import { openPlans, type Plans } from '../harness/plans.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const ROWS = 2000;
const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';

describe('pages of a past of several months', () => {
  let stack: Stack;
  beforeAll(async () => {
    stack = await startStack();
    const small = await stack.newOrganization();
    const organizationIds = [stack.organization.organizationId, small.organizationId];
    await loadHistory(stack.settings, {
      rows: ROWS,
      months: 3,
      organizationIds,
      databaseUrl: stack.database.url,
    });
  });
  afterAll(() => stack.stop());

  /** As the table says, newest first. */
  async function expected(where: string): Promise<string[]> {
    const rows = await stack.database.query<{ reference: string }>(
      `select reference from caudal.payins where organization_id = $1 and ${where} order by id desc`,
      [stack.organization.organizationId],
    );
    return rows.map(({ reference }) => reference);
  }

  async function walk(query: string, direction: 'nextCursor' | 'previousCursor', from: PayinPage) {
    const pages: PayinPage[] = [from];
    for (
      let cursor = from.pageInfo[direction];
      cursor !== null;
      cursor = pages.at(-1)?.pageInfo[direction] ?? null
    )
      pages.push(await listPage(stack.api, `?pageSize=100${query}&cursor=${cursor}`));
    return pages;
  }

  it('the books of a loaded past are whole, and its customers open', async () => {
    const { code, stdout } = await runOperatorCommand(stack.settings, 'ledger', 'verify');
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('all sums to zero') as string,
    });
    const { data } = await listPage(stack.api, '?pageSize=100');
    expect(data).toHaveLength(100);
    for (const { inlineCustomer } of data) expect(inlineCustomer).toContain('Ana María Rojas');
    const { body } = await stack.api.get<{ data: { data: { reference: string } }[] }>('/events?pageSize=100');
    expect(body.data[0]?.data.reference).toBe((await expected('true'))[0]);
  });

  it.each([
    ['&status=DECLINED', "status = 'DECLINED'"],
    ['&status=CONFIRMED', "status = 'CONFIRMED'"],
    ['&status=PENDING', "status = 'PENDING'"],
    ['&rail=PSE', "rail = 'PSE'"],
    ['&rail=BRE_B', "rail = 'BRE_B'"],
    ['&rail=PSE&status=CANCELED', "rail = 'PSE' and status = 'CANCELED'"],
  ])('pages with %s are all there is, in order, forth and back', async (query, where) => {
    const wanted = await expected(where);
    const forth = await walk(query, 'nextCursor', await listPage(stack.api, `?pageSize=100${query}`));
    expect(forth.flatMap(({ data }) => data.map(({ reference }) => reference))).toEqual(wanted);
    const last = forth.at(-1);
    if (!last) throw new Error('no page');
    const back = await walk(query, 'previousCursor', last);
    expect(back.toReversed().flatMap(({ data }) => data.map(({ reference }) => reference))).toEqual(wanted);
  });
});

describe('the plan of a page, made when all tables are empty', () => {
  let plans: Plans;
  beforeAll(async () => {
    plans = await openPlans();
  });
  afterAll(() => plans.close());

  it.each<[string, PayinFilters]>([
    ['a state', { status: 'PROCESSING' }],
    ['a rail', { rail: 'PSE' }],
    ['a state and a rail', { status: 'PROCESSING', rail: 'PSE' }],
  ])('of %s reads that stretch of the index and nothing to throw away', async (_, filters) => {
    for (const position of [null, { direction: 'older', id: ID }, { direction: 'newer', id: ID }] as const) {
      const plan = await plans.of((tx: Tx) => listPayins(tx, ID, filters, position, 21));
      const scans = plan.filter((line) => line.includes('Scan'));
      // From a position that is null, as it is explained here, no month is read.
      if (position === null) expect(scans.length).toBeGreaterThan(0);
      for (const line of scans) expect(line).toMatch(/organization_id_status_rail_id_idx/);
      const conditions = plan.filter((line) => line.includes('Index Cond'));
      for (const line of conditions) expect(line).toMatch(/organization_id.*status.*rail/);
      expect(plan.filter((line) => /Filter:|-> +Sort/.test(line) && !line.includes('One-Time'))).toEqual([]);
    }
  });
});
