import type { Client } from 'pg';
import { type RoleNames, withRoleNames } from '../kit/database-roles.ts';

/** Identifies the deployment a database belongs to; a restored dump keeps the same id. */
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

/** The oldest release that runs after a migration, and the applied steps of a migration that is not complete. */
const RECORDS = `
  alter table caudal_meta.migrations add column if not exists compatible_from integer;
  create table if not exists caudal_meta.migration_steps (
    name text, step integer, checksum text not null, applied_at timestamptz not null default now(), primary key (name, step));
  grant select on caudal_meta.migration_steps to caudal_system, caudal_backup`;

const GRANTS = `
  grant usage on schema caudal_meta to caudal_read, caudal_batch, caudal_system, caudal_backup;
  grant select on caudal_meta.deployment to caudal_read, caudal_batch, caudal_system, caudal_backup;
  grant select on caudal_meta.migrations to caudal_system, caudal_backup`;

const GRANTED = `
  select bool_and(has_schema_privilege(role, 'caudal_meta', 'usage')
    and has_table_privilege(role, 'caudal_meta.deployment', 'select')) as granted
  from unnest($1::name[]) role`;

export async function tableExists(client: Client, name: string): Promise<boolean> {
  const { rows } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    name,
  ]);
  return rows[0]?.exists ?? false;
}

/** @returns null when the database is not migrated, or was migrated by a version that did not record a deployment */
export async function readDeployment(client: Client): Promise<Deployment | null> {
  if (!(await tableExists(client, 'caudal_meta.deployment'))) return null;
  const { rows } = await client.query<Deployment>(
    'select id, role_prefix as "rolePrefix" from caudal_meta.deployment',
  );
  return rows[0] ?? null;
}

/** @returns the existing deployment id, or a newly recorded one */
export async function recordDeployment(client: Client, rolePrefix: string): Promise<string> {
  const existing = await readDeployment(client);
  if (existing) return existing.id;
  await client.query(TABLES);
  const { rows } = await client.query<{ id: string }>(
    'insert into caudal_meta.deployment (role_prefix) values ($1) returning id',
    [rolePrefix],
  );
  return rows[0]?.id ?? '';
}

/** Adds what a database lacks whose last migration was before releases had a schema range. */
export async function ensureRecords(client: Client, roles: RoleNames): Promise<void> {
  if (await tableExists(client, 'caudal_meta.migration_steps')) return;
  await client.query(withRoleNames(RECORDS, roles));
}

export async function grantDeployment(client: Client, roles: RoleNames): Promise<void> {
  const { rows } = await client.query<{ granted: boolean }>(GRANTED, [Object.values(roles)]);
  if (!rows[0]?.granted) await client.query(withRoleNames(GRANTS, roles));
}

/** Grants and policies reference role names, so a database keeps the prefix it was first migrated with. */
export function rolePrefixError(deployment: Deployment | null, rolePrefix: string): string | null {
  return deployment === null || deployment.rolePrefix === rolePrefix
    ? null
    : `the roles of this database are named ${deployment.rolePrefix}_…, but the configuration uses ${rolePrefix}_…: set CAUDAL_DATABASE_ROLE_PREFIX=${deployment.rolePrefix}`;
}
