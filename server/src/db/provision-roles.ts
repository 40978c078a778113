import { type Client, DatabaseError } from 'pg';
import { findRoleProblems, ownerComment } from './role-ownership.ts';
import { type LoginRole, passwordWorks, type RoleState, roleStates } from './role-state.ts';

const ATTEMPTS = 5;

/** 42710, 23505: the migration of another database created the role concurrently. XX000: it changed it concurrently. */
const CONCURRENT = new Set(['42710', '23505', 'XX000']);

interface Deployment {
  /** Null before the deployment is recorded in the database. */
  readonly id: string | null;
  /** Records the deployment in the database. @returns its id */
  record(): Promise<string>;
  /** Grants the roles their first privileges in this database, which mark them as used by it. */
  grant(): Promise<void>;
}

/**
 * Creates missing roles and corrects passwords; changes nothing when all roles are correct. It reads role attributes
 * instead of setting them: ALTER ROLE with NOSUPERUSER or NOBYPASSRLS requires a superuser even when nothing changes.
 * @throws before any change, listing all problems, when a role cannot be used
 */
export async function provisionRoles(
  client: Client,
  roles: readonly LoginRole[],
  deployment: Deployment,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const states = await roleStates(client, roles);
    const problems = findRoleProblems(states, deployment.id);
    if (problems.length > 0) throw new Error(`${problems.join('\n')}\nNothing was changed.`);
    try {
      await client.query('begin');
      const deploymentId = await deployment.record();
      for (const state of states) await provision(client, state, deploymentId);
      await deployment.grant();
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      if (attempt < ATTEMPTS && CONCURRENT.has((error as DatabaseError).code ?? '')) continue;
      throw await explainPermissionError(client, error);
    }
    await verifyPasswords(roles);
    return;
  }
}

async function provision(client: Client, state: RoleState, deploymentId: string): Promise<void> {
  const role = client.escapeIdentifier(state.name);
  const password = state.url === null ? '' : client.escapeLiteral(getPassword(state.url));
  if (!state.exists) await client.query(`create role ${role} login${password && ` password ${password}`}`);
  else if (state.passwordDiffers) await client.query(`alter role ${role} password ${password}`);
  const comment = ownerComment(deploymentId);
  if (state.comment !== comment)
    await client.query(`comment on role ${role} is ${client.escapeLiteral(comment)}`);
}

async function verifyPasswords(roles: readonly LoginRole[]): Promise<void> {
  for (const { name, url } of roles)
    if (url !== null && !(await passwordWorks(name, url)))
      throw new Error(
        `the role ${name} cannot log in with the password that was just set: check whether it has expired (VALID UNTIL) and which authentication method pg_hba.conf requires`,
      );
}

/** Adds the privilege that the schema owner lacks when PostgreSQL rejects creating or changing a role. */
async function explainPermissionError(client: Client, error: unknown): Promise<unknown> {
  if (!(error instanceof DatabaseError) || error.code !== '42501') return error;
  const { rows } = await client.query<{ owner: string; may_create: boolean }>(
    'select rolname as owner, rolcreaterole or rolsuper as may_create from pg_roles where rolname = current_user',
  );
  const owner = rows[0]?.owner ?? 'the owner';
  const remedy = rows[0]?.may_create
    ? `since PostgreSQL 16 a role with CREATEROLE administers only roles that it created or that were granted to it: grant … to ${owner} with admin option. In every version it needs CREATE on the database`
    : `${owner} needs CREATEROLE; an administrator must run: alter role ${owner} createrole`;
  return new Error(`${error.message}: ${remedy}`, { cause: error });
}

function getPassword(url: string): string {
  return decodeURIComponent(new URL(url).password);
}
