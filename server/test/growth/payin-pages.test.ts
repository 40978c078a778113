import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadHistory } from '../../../bench/src/growth/load.ts';
import type { Tx } from '../../src/db/tx.ts';
import { listPayins, type PayinFilters } from '../../src/payins/payin-list.store.ts';
import { runOperatorCommand } from '../harness/operator-command.ts';
import { listPage, type PayinPage } from '../harness/payin-responses.ts';
import { openPlans, type Plans } from '../harness/plans.ts';
import { type Stack, startStack } from '../harness/stack.ts';

const ROWS = 2000;
const ID = '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10';

describe('pages over several months of history', () => {
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

  /** Expected references from the table, newest first. */
  async function readReferences(where: string): Promise<string[]> {
    const rows = await stack.database.query<{ reference: string }>(
      `select reference from caudal.payins where organization_id = $1 and ${where} order by id desc`,
      [stack.organization.organizationId],
    );
    return rows.map(({ reference }) => reference);
  }

  async function fetchPages(query: string, direction: 'nextCursor' | 'previousCursor', from: PayinPage) {
    const pages: PayinPage[] = [from];
    for (
      let cursor = from.pageInfo[direction];
      cursor !== null;
      cursor = pages.at(-1)?.pageInfo[direction] ?? null
    )
      pages.push(await listPage(stack.api, `?pageSize=100${query}&cursor=${cursor}`));
    return pages;
  }

  it('the loaded history has a consistent ledger and decryptable customers', async () => {
    const { code, stdout } = await runOperatorCommand(stack.settings, 'ledger', 'verify');
    expect({ code, stdout }).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('sum of all accounts is zero') as string,
    });
    const { data } = await listPage(stack.api, '?pageSize=100');
    expect(data).toHaveLength(100);
    for (const { inlineCustomer } of data) expect(inlineCustomer).toContain('Ana María Rojas');
    const { body } = await stack.api.get<{ data: { data: { reference: string } }[] }>('/events?pageSize=100');
    expect(body.data[0]?.data.reference).toBe((await readReferences('true'))[0]);
  });

  it.each([
    ['&status=DECLINED', "status = 'DECLINED'"],
    ['&status=CONFIRMED', "status = 'CONFIRMED'"],
    ['&status=PENDING', "status = 'PENDING'"],
    ['&rail=PSE', "rail = 'PSE'"],
    ['&rail=BRE_B', "rail = 'BRE_B'"],
    ['&rail=PSE&status=CANCELED', "rail = 'PSE' and status = 'CANCELED'"],
  ])('pages with %s contain all rows in order, in both directions', async (query, where) => {
    const expected = await readReferences(where);
    const forward = await fetchPages(query, 'nextCursor', await listPage(stack.api, `?pageSize=100${query}`));
    expect(forward.flatMap(({ data }) => data.map(({ reference }) => reference))).toEqual(expected);
    const last = forward.at(-1);
    if (!last) throw new Error('no page');
    const backward = await fetchPages(query, 'previousCursor', last);
    expect(backward.toReversed().flatMap(({ data }) => data.map(({ reference }) => reference))).toEqual(
      expected,
    );
  });
});

describe('the plan of a page, with empty tables', () => {
  let plans: Plans;
  beforeAll(async () => {
    plans = await openPlans();
  });
  afterAll(() => plans.close());

  it.each<[string, PayinFilters]>([
    ['a status', { status: 'PROCESSING' }],
    ['a rail', { rail: 'PSE' }],
    ['a status and a rail', { status: 'PROCESSING', rail: 'PSE' }],
  ])('of %s reads only the matching index range', async (_, filters) => {
    for (const position of [null, { direction: 'older', id: ID }, { direction: 'newer', id: ID }] as const) {
      const plan = await plans.of((tx: Tx) => listPayins(tx, ID, filters, position, 21));
      const scans = plan.filter((line) => line.includes('Scan'));
      // With a null position, as explained here, no month is read.
      if (position === null) expect(scans.length).toBeGreaterThan(0);
      for (const line of scans) expect(line).toMatch(/organization_id_status_rail_id_idx/);
      const conditions = plan.filter((line) => line.includes('Index Cond'));
      for (const line of conditions) expect(line).toMatch(/organization_id.*status.*rail/);
      expect(plan.filter((line) => /Filter:|-> +Sort/.test(line) && !line.includes('One-Time'))).toEqual([]);
    }
  });
});
