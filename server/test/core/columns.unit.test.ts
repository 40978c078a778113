import { describe, expect, it } from 'vitest';
import {
  emptyFields,
  encrypted,
  fieldEncryptor,
  fieldPicker,
  insertSelect,
  money,
  nullable,
  rowReader,
  selectList,
  text,
  time,
  uuid,
} from '../../src/db/columns.ts';
import { RowSet } from '../../src/db/records.ts';
import { cents } from '../../src/kit/money.ts';
import { singleKeyRing } from '../harness/key-ring.ts';

const COLUMNS = {
  organization_id: uuid,
  id: uuid,
  amount_in_cents: money,
  created_at: time,
  error_code: nullable(text()),
  customer: encrypted<{ readonly name: string }>(),
};
const FIELDS = {
  organizationId: '019b2c5e-0000-7000-8001-000000000001',
  id: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c10',
  amount: cents(100),
  createdAt: new Date(0),
  errorCode: null,
  customer: { name: 'Ana' },
};
const dataKey = singleKeyRing();

function storedRow() {
  const stored = fieldEncryptor('payins', COLUMNS)(FIELDS, dataKey);
  const { organizationId, id, amount, createdAt, errorCode, customer } = stored;
  return {
    organization_id: organizationId,
    id,
    amount_in_cents: amount,
    created_at: createdAt,
    error_code: errorCode,
    customer,
  };
}

describe('a column list', () => {
  it('maps a row to the fields that were stored', () => {
    expect(rowReader('payins', COLUMNS)(storedRow(), dataKey)).toEqual(FIELDS);
  });

  it('stores and reads null in an encrypted column', () => {
    const stored = fieldEncryptor('payins', COLUMNS)({ ...FIELDS, customer: null }, dataKey);
    expect(stored.customer).toBeNull();
    expect(rowReader('payins', COLUMNS)({ ...storedRow(), customer: null }, dataKey).customer).toBeNull();
  });

  it.each([
    ['row', 'payins', { id: '019b2c5e-8f3a-7c41-8001-3f9d2b7a6c11' }],
    ['organization', 'payins', { organization_id: '019b2c5e-0000-7000-8001-000000000002' }],
    ['table', 'payouts', {}],
  ])('does not decrypt a value that was copied to another %s', (_where, table, changes) => {
    expect(() => rowReader(table, COLUMNS)({ ...storedRow(), ...changes }, dataKey)).toThrow(
      'unable to authenticate data',
    );
  });

  it('does not decrypt a value that was copied to another column', () => {
    const columns = { organization_id: uuid, id: uuid, metadata: encrypted<object>() };
    const { organization_id, id, customer } = storedRow();
    const row = { organization_id, id, metadata: customer };
    expect(() => rowReader('payins', columns)(row, dataKey)).toThrow('unable to authenticate data');
  });

  it('picks its own fields', () => {
    expect(fieldPicker(COLUMNS)({ ...FIELDS, secret: 'x' } as typeof FIELDS)).toEqual(FIELDS);
    expect(emptyFields({ error_code: nullable(text()), result_at: nullable(time) })).toEqual({
      errorCode: null,
      resultAt: null,
    });
  });

  it('writes SQL in one order', () => {
    expect(selectList('p', { id: uuid, amount_in_cents: money })).toBe('p.id, p.amount_in_cents');
    expect(insertSelect('caudal.t', { id: 'id', created_at: 'at' })).toBe(
      'insert into caudal.t (id, created_at) select id, at',
    );
    const rows = new RowSet({ id: uuid, amount_in_cents: money });
    expect(rows.as('new')).toBe('unnest($1::uuid[], $2::bigint[]) as new ("id", "amount_in_cents")');
    expect(rows.scalar(1)).toBe('$3');
    expect(
      rows.parameters([
        { id: 'a', amount: cents(1) },
        { amount: cents(2), id: 'b' },
      ]),
    ).toEqual([
      ['a', 'b'],
      [1n, 2n],
    ]);
  });
});
