/** Login roles of a deployment: three for the server, and a read-only one for `pg_dump`. */
export const ROLE_KINDS = ['read', 'batch', 'system', 'backup'] as const;
export type RoleKind = (typeof ROLE_KINDS)[number];
export type RoleNames = Readonly<Record<RoleKind, string>>;

/** Roles are global to the PostgreSQL cluster: each deployment in it needs its own prefix. */
export function roleNames(prefix: string): RoleNames {
  return {
    read: `${prefix}_read`,
    batch: `${prefix}_batch`,
    system: `${prefix}_system`,
    backup: `${prefix}_backup`,
  };
}

const DEFAULT_NAME = /\bcaudal_(read|batch|system|backup)\b/g;

/** Replaces the default role names in the SQL of migrations with those of the deployment. */
export function withRoleNames(sql: string, roles: RoleNames): string {
  return sql.replace(DEFAULT_NAME, (_, kind: RoleKind) => roles[kind]);
}
