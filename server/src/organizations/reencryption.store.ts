import { queryRecord, queryRecords } from '../db/records.ts';
import { type Statement, statement, type Tx } from '../db/tx.ts';
import { ENCRYPTED_TABLES, type EncryptedTable } from './encrypted-tables.ts';

/** A row of an encrypted table: its key, and its values of older data keys. */
export interface OutdatedRow {
  /** The primary key after the organization, as text. */
  readonly key: readonly string[];
  readonly id: string;
  readonly changeable: boolean;
  /** In the order of the table's columns; null: no value, or a value of the newest key. */
  readonly values: readonly (Buffer | null)[];
}

/** The statements that read one table. */
interface TableStatements {
  readonly first: Statement;
  readonly next: Statement;
}

const STATEMENTS: ReadonlyMap<string, TableStatements> = new Map(
  ENCRYPTED_TABLES.map((table) => [table.name, makeStatements(table)]),
);

function makeStatements({
  name,
  key,
  idColumn,
  columns,
  changeable = 'true',
}: EncryptedTable): TableStatements {
  const keys = Object.entries(key);
  const keyList = keys.map(([column]) => `t.${column}`).join(', ');
  const texts = keys.map(([column]) => `t.${column}::text`).join(', ');
  const values = Object.keys(columns)
    .map((column) => `case when caudal.data_key_number(t.${column}) < $2 then t.${column} end`)
    .join(', ');
  const select = (after: string) =>
    `select array[${texts}] as key, t.${idColumn} as id, ${changeable} as changeable, array[${values}] as values
     from caudal.${name} t where t.organization_id = $1 ${after} order by ${keyList} limit $3`;
  const from = keys.map(([, type], index) => `($4::text[])[${index + 1}]::${type}`).join(', ');
  return {
    first: statement(`reencryption.first-${name}`, select('')),
    next: statement(`reencryption.next-${name}`, select(`and (${keyList}) > (${from})`)),
  };
}

/** Reads the next rows of a table after a key (empty: from the first), with their values of older data keys. */
export function readOutdated(
  tx: Tx,
  table: EncryptedTable,
  { organizationId, number, afterKey }: Pick<KeyRotation, 'organizationId' | 'number' | 'afterKey'>,
  limit: number,
): Promise<OutdatedRow[]> {
  const { first, next } = statements(table);
  return afterKey.length === 0
    ? tx.query<OutdatedRow>(first, [organizationId, number, limit])
    : tx.query<OutdatedRow>(next, [organizationId, number, limit, afterKey]);
}

const REPLACE = statement(
  'reencryption.replace',
  'select caudal.reencrypt($1, $2, $3, $4, $5, $6) as replaced',
);

/** Replaces a value unless it was changed meanwhile. @returns whether it was replaced */
export async function replaceValue(
  tx: Tx,
  table: EncryptedTable,
  column: string,
  change: {
    readonly organizationId: string;
    readonly key: readonly string[];
    readonly from: Buffer;
    readonly to: Buffer;
  },
): Promise<boolean> {
  const { organizationId, key, from, to } = change;
  const [row] = await tx.query<{ replaced: boolean }>(REPLACE, [
    table.name,
    column,
    organizationId,
    key,
    from,
    to,
  ]);
  return row?.replaced ?? false;
}

function statements({ name }: EncryptedTable): TableStatements {
  const found = STATEMENTS.get(name);
  if (!found) throw new Error(`${name} is not an encrypted table`);
  return found;
}

export interface KeyRotation {
  readonly organizationId: string;
  readonly number: number;
  readonly currentTable: string;
  readonly afterKey: readonly string[];
  readonly found: number;
  /** Whether this pass started long enough after the activation of the key to be the last one. */
  readonly conclusive: boolean;
}

const START = statement(
  'reencryption.start',
  `insert into caudal.key_rotations (organization_id, number, due_at)
   select organization_id, number, activates_at from caudal.organization_keys where organization_id = $1 and number = $2
   on conflict (organization_id) do update set number = excluded.number, started_at = excluded.started_at,
     due_at = excluded.due_at, pass_started_at = null, current_table = '', after_key = '{}', found = 0, reencrypted = 0,
     finished_at = null`,
);

/** Schedules the re-encryption of an organization's values for the activation of its new key. */
export async function startRotation(tx: Tx, organizationId: string, number: number): Promise<void> {
  await tx.query(START, [organizationId, number]);
}

const LEASE = statement(
  'reencryption.lease',
  `select r.organization_id, r.number, r.current_table, r.after_key, r.found::float8 as found,
     coalesce(r.pass_started_at > k.activates_at + make_interval(secs => $2), false) as conclusive
   from caudal.key_rotations r join caudal.organization_keys k using (organization_id, number)
   where r.due_at <= clock_timestamp() and r.organization_id <> all ($1::uuid[])
   order by r.due_at limit 1 for no key update of r skip locked`,
);

/** Locks a due rotation until the transaction ends; another worker takes another one. */
export function lockDueRotation(
  tx: Tx,
  excluded: readonly string[],
  conclusiveAfterSeconds: number,
): Promise<KeyRotation | null> {
  return queryRecord<KeyRotation>(tx, LEASE, [excluded, conclusiveAfterSeconds]);
}

const ADVANCE = statement(
  'reencryption.advance',
  // A later due time lets the rotations of other organizations advance in turn.
  `update caudal.key_rotations set pass_started_at = coalesce(pass_started_at, clock_timestamp()), due_at = clock_timestamp(),
     current_table = $2, after_key = $3, found = found + $4, reencrypted = reencrypted + $5
   where organization_id = $1`,
);

export async function advanceRotation(
  tx: Tx,
  organizationId: string,
  progress: {
    readonly currentTable: string;
    readonly afterKey: readonly string[];
    readonly found: number;
    readonly reencrypted: number;
  },
): Promise<void> {
  const { currentTable, afterKey, found, reencrypted } = progress;
  await tx.query(ADVANCE, [organizationId, currentTable, afterKey, found, reencrypted]);
}

const NEXT_PASS = statement(
  'reencryption.next-pass',
  `update caudal.key_rotations r set pass_started_at = null, current_table = '', after_key = '{}', found = 0,
     due_at = case when $2 then clock_timestamp() + make_interval(secs => $3)
       else k.activates_at + make_interval(secs => $4) + interval '1 second' end
   from caudal.organization_keys k
   where r.organization_id = $1 and k.organization_id = r.organization_id and k.number = r.number`,
);

/** Schedules another pass: soon when this one found values of older keys, else the one that may conclude. */
export async function scheduleNextPass(
  tx: Tx,
  organizationId: string,
  foundAny: boolean,
  delays: { readonly afterFindSeconds: number; readonly conclusiveAfterSeconds: number },
): Promise<void> {
  await tx.query(NEXT_PASS, [
    organizationId,
    foundAny,
    delays.afterFindSeconds,
    delays.conclusiveAfterSeconds,
  ]);
}

const FINISH = statement(
  'reencryption.finish',
  `update caudal.key_rotations set due_at = null, finished_at = clock_timestamp() where organization_id = $1`,
);

const RETIRE = statement(
  'reencryption.retire',
  `update caudal.organization_keys set retired_at = caudal.now()
   where organization_id = $1 and number < $2 and retired_at is null`,
);

// The audit log says when months were detached. A key that existed then may be the only one that decrypts their archive.
const DELETE_UNUSED = statement(
  'reencryption.delete-unused',
  `delete from caudal.organization_keys k where k.organization_id = $1 and k.retired_at is not null and not exists (
     select from caudal.operator_actions a
     where a.action = 'months.detach' and a.at between k.created_at and k.retired_at)
   returning k.number`,
);

/** Ends a rotation and deletes the older keys that no detached month may need. @returns the deleted numbers */
export async function finishRotation(tx: Tx, organizationId: string, number: number): Promise<number[]> {
  await tx.query(FINISH, [organizationId]);
  await tx.query(RETIRE, [organizationId, number]);
  const deleted = await tx.query<{ number: number }>(DELETE_UNUSED, [organizationId]);
  return deleted.map((row) => row.number);
}

export interface RotationStatus {
  readonly organizationId: string;
  readonly organization: string;
  readonly number: number;
  readonly startedAt: Date;
  readonly currentTable: string;
  readonly found: number;
  readonly reencrypted: number;
  readonly dueAt: Date | null;
  readonly finishedAt: Date | null;
}

const STATUS = statement(
  'reencryption.status',
  `select r.organization_id, o.name as organization, r.number, r.started_at, r.current_table, r.found::float8 as found,
     r.reencrypted::float8 as reencrypted, r.due_at, r.finished_at
   from caudal.key_rotations r join caudal.organizations o on o.id = r.organization_id order by r.started_at desc`,
);

export function listRotations(tx: Pick<Tx, 'query'>): Promise<RotationStatus[]> {
  return queryRecords(tx, STATUS);
}
