import type { Client } from 'pg';
import { type RoleNames, withRoleNames } from '../kit/database-roles.ts';

/** Which deployment a database belongs to; a dump and its restored copy have the same. */
export interface Deployment {
  readonly id: string;
  readonly rolePrefix: string;
}

const TABLES = `
  create schema if not exists caudal_meta;
  create table if not exists caudal_meta.migrations (
    name text primary key, checksum text not null, applied_at timestamptz not null default now());
  create table if not exists caudal_meta.deployment (
    only_row boolean primary key default true check (only_row),
    id uuid not null default gen_random_uuid(),
    role_prefix text not null)`;

const GRANTS = `
  grant usage on schema caudal_meta to caudal_read, caudal_batch, caudal_system, caudal_backup;
  grant select on caudal_meta.deployment to caudal_read, caudal_batch, caudal_system, caudal_backup;
  grant select on caudal_meta.migrations to caudal_system, caudal_backup`;

const GRANTED = `
  select bool_and(has_schema_privilege(role, 'caudal_meta', 'usage')
    and has_table_privilege(role, 'caudal_meta.deployment', 'select')) as granted
  from unnest($1::name[]) role`;

/** @returns null when the database has not been migrated, or by a version that did not record it */
export async function readDeployment(client: Client): Promise<Deployment | null> {
  const { rows: tables } = await client.query<{ there: boolean }>(
    "select to_regclass('caudal_meta.deployment') is not null as there",
  );
  if (!tables[0]?.there) return null;
  const { rows } = await client.query<{ id: string; role_prefix: string }>(
    'select id, role_prefix from caudal_meta.deployment',
  );
  return rows[0] ? { id: rows[0].id, rolePrefix: rows[0].role_prefix } : null;
}

/** @returns the id it has, or gets now */
export async function recordDeployment(client: Client, rolePrefix: string): Promise<string> {
  const known = await readDeployment(client);
  if (known) return known.id;
  await client.query(TABLES);
  const { rows } = await client.query<{ id: string }>(
    'insert into caudal_meta.deployment (role_prefix) values ($1) returning id',
    [rolePrefix],
  );
  return rows[0]?.id ?? '';
}

export async function grantDeployment(client: Client, roles: RoleNames): Promise<void> {
  const { rows } = await client.query<{ granted: boolean }>(GRANTED, [Object.values(roles)]);
  if (!rows[0]?.granted) await client.query(withRoleNames(GRANTS, roles));
}

/** Grants and policies name the roles: a database keeps the prefix it was migrated with. */
export function prefixFault(deployment: Deployment | null, rolePrefix: string): string | null {
  return deployment === null || deployment.rolePrefix === rolePrefix
    ? null
    : `the roles of this database are named ${deployment.rolePrefix}_…, the configuration says ${rolePrefix}_…: set CAUDAL_DATABASE_ROLE_PREFIX=${deployment.rolePrefix}`;
}
