/** Login roles of a deployment: three that the server works as, and one that only reads, for `pg_dump`. */
export const ROLE_KINDS = ['read', 'batch', 'system', 'backup'] as const;
export type RoleKind = (typeof ROLE_KINDS)[number];
export type RoleNames = Readonly<Record<RoleKind, string>>;

/** Roles belong to the whole PostgreSQL cluster: each deployment in it needs a prefix of its own. */
export function roleNames(prefix: string): RoleNames {
  return {
    read: `${prefix}_read`,
    batch: `${prefix}_batch`,
    system: `${prefix}_system`,
    backup: `${prefix}_backup`,
  };
}

const WRITTEN = /\bcaudal_(read|batch|system|backup)\b/g;

/** Migrations are written with the default names; this puts the deployment's own in their place. */
export function withRoleNames(sql: string, roles: RoleNames): string {
  return sql.replace(WRITTEN, (_, kind: RoleKind) => roles[kind]);
}
