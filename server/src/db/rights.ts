import { readFileSync } from 'node:fs';
import { ROLE_KINDS, type RoleNames } from '../kit/database-roles.ts';
import { statement, type Tx } from './tx.ts';

const EXPECTED_FILE = new URL('rights.txt', import.meta.url);

/**
 * The rights that the migrations grant, one line per table, role and statement kind: `payouts batch update status …`.
 * `*` are all columns; `payouts (month)` are the partitions. Further lines list restrictive policies and triggers.
 */
export function expectedRights(): string[] {
  return readFileSync(EXPECTED_FILE, 'utf8').trimEnd().split('\n');
}

// A monthly table that was detached counts as a month too.
const RIGHTS = statement(
  'rights.read',
  `with relation as materialized (
     select c.oid, regexp_replace(c.relname, '_[0-9]{6}$', ' (month)') as name, c.relname ~ '_[0-9]{6}$' as month from pg_class c
     where c.relnamespace = 'caudal'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
   ),
   role as materialized (select kind, name, oid from unnest($1::text[], $2::name[]) as role (kind, name) join pg_roles on rolname = name),
   cell as (
     select t.name, role.kind, privilege, a.attname, bool_or(has_column_privilege(role.oid, t.oid, a.attnum, privilege)) as granted
     from relation t cross join role cross join unnest(array['select', 'insert', 'update', 'references']) as privilege
     join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
     group by t.name, role.kind, privilege, a.attname
   ),
   line as (
     select concat_ws(' ', name, kind, privilege,
       case when bool_and(granted) then '*' else string_agg(attname, ' ' order by attname collate "C") filter (where granted) end) as text
     from cell group by name, kind, privilege having bool_or(granted)
     union
     select concat_ws(' ', t.name, role.kind, privilege)
     from relation t cross join role cross join unnest(array['delete', 'truncate', 'trigger']) as privilege
     where has_table_privilege(role.oid, t.oid, privilege)
     union
     select concat_ws(' ', t.name, role.kind, 'policies', string_agg(p.polname, ' ' order by p.polname collate "C"))
     from relation t join pg_policy p on p.polrelid = t.oid and not p.polpermissive join role on role.oid = any (p.polroles)
     group by t.name, role.kind
     union
     select concat_ws(' ', t.name, 'triggers', string_agg(g.tgname, ' ' order by g.tgname collate "C"))
     from relation t join pg_trigger g on g.tgrelid = t.oid and not g.tgisinternal and g.tgenabled = 'O'
     where not t.month group by t.name
   )
   select text from line order by text collate "C"`,
);

/** The rights of the server's roles in this database, in the form of the expected ones. */
export async function readRights(db: Pick<Tx, 'query'>, roles: RoleNames): Promise<string[]> {
  const names = ROLE_KINDS.map((kind) => roles[kind]);
  return (await db.query<{ text: string }>(RIGHTS, [ROLE_KINDS, names])).map(({ text }) => text);
}

/** Compares the rights with the expected ones. @returns a readable sentence for each line that differs */
export async function findChangedRights(db: Pick<Tx, 'query'>, roles: RoleNames): Promise<string[]> {
  const [expected, found] = [expectedRights(), await readRights(db, roles)];
  return [
    ...found.filter((line) => !expected.includes(line)).map((line) => `the migrations do not grant: ${line}`),
    ...expected.filter((line) => !found.includes(line)).map((line) => `missing or changed: ${line}`),
  ];
}
