import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAYIN_STATUSES, statesBefore } from '../../src/payins/payin.states.ts';
import { cloneDatabase, type TestDatabase } from '../harness/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await cloneDatabase();
});
afterAll(() => database?.drop());

describe('the status transitions of a payin', () => {
  it('cover exactly the statuses that the database allows', async () => {
    const [row] = await database.query<{ rule: string }>(
      "select pg_get_constraintdef(oid) as rule from pg_constraint where conname = 'payin_status' and conrelid = 'caudal.payins'::regclass",
    );
    const allowed = [...(row?.rule ?? '').matchAll(/'([A-Z]+)'/g)].map((match) => match[1]);
    expect(new Set(allowed)).toEqual(new Set(PAYIN_STATUSES));
  });

  it('reach a final status only from open ones and never leave it', () => {
    for (const final of ['CONFIRMED', 'DECLINED', 'CANCELED'] as const) {
      expect(statesBefore(final)).toBe("'PENDING', 'PROCESSING'");
    }
    expect(statesBefore('PROCESSING')).toBe("'PENDING'");
    expect(statesBefore('PENDING')).toBe('');
  });
});
