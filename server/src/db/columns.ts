import type { KeyRing } from '../kit/key-ring.ts';
import type { Cents } from '../kit/money.ts';

/** A column: its SQL type, the type of its value in a row, and the type of the field that the value becomes. */
export interface Column<Stored, Value = Stored> {
  readonly type: string;
  readonly encrypted?: true;
  /** Only carries the types; never set. */
  readonly types?: readonly [Stored, Value];
}

export type Columns = Readonly<Record<string, Column<unknown, unknown>>>;

export const uuid: Column<string> = { type: 'uuid' };
export const money: Column<Cents> = { type: 'bigint' };
/** Negative for money that was sent. */
export const signedMoney: Column<bigint> = { type: 'bigint' };
export const time: Column<Date> = { type: 'timestamptz' };
export const bytes: Column<Buffer> = { type: 'bytea' };
export const flag: Column<boolean> = { type: 'boolean' };
export const integer: Column<number> = { type: 'integer' };
export const smallint: Column<number> = { type: 'smallint' };
export const milliseconds: Column<number> = { type: 'float8' };

export function text<Value extends string = string>(): Column<Value> {
  return { type: 'text' };
}

export function nullable<Stored, Value>(column: Column<Stored, Value>): Column<Stored | null, Value | null> {
  return column;
}

/** JSON encrypted with the organization's data key. The ciphertext is bound to its row and column. */
export function encrypted<Value>(): Column<Buffer | null, Value | null> {
  return { type: 'bytea', encrypted: true };
}

type CamelCase<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : Name;
type FieldName<Name> = Name extends `${infer Amount}_in_cents` ? CamelCase<Amount> : CamelCase<Name & string>;

/** A selected row, by column name. */
export type RowOf<C extends Columns> = {
  readonly [Name in keyof C]: C[Name] extends Column<infer Stored, infer _> ? Stored : never;
};

/** The decrypted values, by field name: `amount_in_cents` is `amount`, `created_at` is `createdAt`. */
export type FieldsOf<C extends Columns> = {
  readonly [Name in keyof C as FieldName<Name>]: C[Name] extends Column<infer _, infer Value> ? Value : never;
};

/** The values as stored, by field name. */
export type StoredFieldsOf<C extends Columns> = {
  readonly [Name in keyof C as FieldName<Name>]: C[Name] extends Column<infer Stored, infer _>
    ? Stored
    : never;
};

/** `amount_in_cents` is `amount`, `created_at` is `createdAt`. */
export function fieldName(column: string): string {
  return column.replace(/_in_cents$/, '').replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The fields of these columns, all null. */
export function emptyFields<C extends Columns>(columns: C): { readonly [Field in keyof FieldsOf<C>]: null } {
  const fields = Object.keys(columns).map((name) => [fieldName(name), null]);
  return Object.fromEntries(fields) as { [Field in keyof FieldsOf<C>]: null };
}

/** The columns that identify a row. */
export const ROW_ID = { organization_id: uuid, id: uuid };

export type RowId = FieldsOf<typeof ROW_ID>;

/** Encrypted values are bound to their row: copied to another row, they fail to decrypt. */
function identity(table: string, column: string, { organizationId, id }: RowId): string {
  return `${table}.${column}/${organizationId}/${id}`;
}

/** Encrypts the value of an encrypted column. */
export function encryptValue(
  table: string,
  column: string,
  rowId: RowId,
  value: unknown,
  dataKey: KeyRing,
): Buffer {
  return dataKey.encrypt(JSON.stringify(value), identity(table, column, rowId));
}

/** Decrypts the value of an encrypted column. */
export function decryptValue(
  table: string,
  column: string,
  rowId: RowId,
  value: Buffer | null,
  dataKey: KeyRing,
): unknown {
  return value && JSON.parse(dataKey.decrypt(value, identity(table, column, rowId)).toString('utf8'));
}

/** Returns a function that copies the fields of these columns and nothing else. */
export function fieldPicker<C extends Columns>(columns: C): (fields: FieldsOf<C>) => FieldsOf<C> {
  const names = Object.keys(columns).map(fieldName);
  return (fields) => {
    const values = fields as Readonly<Record<string, unknown>>;
    return Object.fromEntries(names.map((name) => [name, values[name]])) as FieldsOf<C>;
  };
}

/** Returns a function that encrypts the encrypted columns among the fields of a resource. */
export function fieldEncryptor<C extends Columns>(
  table: string,
  columns: C,
): (fields: FieldsOf<C> & RowId, dataKey: KeyRing) => StoredFieldsOf<C> {
  const secret = Object.keys(columns)
    .filter((name) => columns[name]?.encrypted)
    .map((name) => [name, fieldName(name)] as const);
  return (fields, dataKey) => {
    const stored: Record<string, unknown> = { ...fields };
    for (const [name, field] of secret)
      if (stored[field] !== null) stored[field] = encryptValue(table, name, fields, stored[field], dataKey);
    return stored as StoredFieldsOf<C>;
  };
}

/** Returns a function that maps a row to fields and decrypts its encrypted columns. */
export function rowReader<C extends Columns>(
  table: string,
  columns: C,
): (row: RowOf<C> & { organization_id: string; id: string }, dataKey: KeyRing) => FieldsOf<C> {
  const entries = Object.entries(columns).map(
    ([name, column]) => [name, fieldName(name), column.encrypted === true] as const,
  );
  return (row, dataKey) => {
    const rowId = { organizationId: row.organization_id, id: row.id };
    const fields: Record<string, unknown> = {};
    for (const [name, field, secret] of entries) {
      const value: unknown = row[name];
      fields[field] = secret ? decryptValue(table, name, rowId, value as Buffer | null, dataKey) : value;
    }
    return fields as FieldsOf<C>;
  };
}

/** The columns for `select` or `returning`, qualified with the alias of their table. */
export function selectList(alias: string, columns: Columns): string {
  return Object.keys(columns)
    .map((name) => `${alias}.${name}`)
    .join(', ');
}

/** The column names as values of `insertSelect`: columns that the source provides under the same name. */
export function copied(columns: Columns): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.keys(columns).map((name) => [name, name]));
}

/** `insert into … select …` from an SQL expression per column. */
export function insertSelect(table: string, values: Readonly<Record<string, string>>): string {
  return `insert into ${table} (${Object.keys(values).join(', ')}) select ${Object.values(values).join(', ')}`;
}
