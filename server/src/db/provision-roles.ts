import { type Client, DatabaseError } from 'pg';
import { ownerComment, roleFaults } from './role-ownership.ts';
import { type LoginRole, passwordWorks, type RoleState, roleStates } from './role-state.ts';

const ATTEMPTS = 5;

/** 42710, 23505: created at this moment by the migration of another database. XX000: changed at this moment. */
const CONCURRENT = new Set(['42710', '23505', 'XX000']);

interface Deployment {
  /** Null before the database has one. */
  readonly id: string | null;
  /** Records the deployment in the database. @returns its id */
  record(): Promise<string>;
  /** Grants the roles their first privileges in this database, which mark them as in use by it. */
  grant(): Promise<void>;
}

/**
 * Creates missing roles and corrects passwords; changes nothing when all are right. It reads the attributes of roles
 * instead of setting them: naming NOSUPERUSER or NOBYPASSRLS in ALTER ROLE needs a superuser, even when it changes nothing.
 * @throws before anything is changed, with all there is to correct, when a role cannot be used
 */
export async function provisionRoles(
  client: Client,
  roles: readonly LoginRole[],
  deployment: Deployment,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const states = await roleStates(client, roles);
    const faults = roleFaults(states, deployment.id);
    if (faults.length > 0) throw new Error(`${faults.join('\n')}\nNothing was changed.`);
    try {
      await client.query('begin');
      const deploymentId = await deployment.record();
      for (const state of states) await provision(client, state, deploymentId);
      await deployment.grant();
      await client.query('commit');
    } catch (error) {
      await client.query('rollback');
      if (attempt < ATTEMPTS && CONCURRENT.has((error as DatabaseError).code ?? '')) continue;
      throw await explained(client, error);
    }
    await verifyPasswords(roles);
    return;
  }
}

async function provision(client: Client, state: RoleState, deploymentId: string): Promise<void> {
  const role = client.escapeIdentifier(state.name);
  const password = state.url === null ? '' : client.escapeLiteral(passwordIn(state.url));
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
        `the role ${name} cannot log in with the password it was just given: is it limited in time (valid until), or does pg_hba.conf ask for another method?`,
      );
}

/** What the owner of the schema lacks, when PostgreSQL refuses to create or change a role. */
async function explained(client: Client, error: unknown): Promise<unknown> {
  if (!(error instanceof DatabaseError) || error.code !== '42501') return error;
  const { rows } = await client.query<{ owner: string; may_create: boolean }>(
    'select rolname as owner, rolcreaterole or rolsuper as may_create from pg_roles where rolname = current_user',
  );
  const owner = rows[0]?.owner ?? 'the owner';
  const remedy = rows[0]?.may_create
    ? `since PostgreSQL 16 a role with CREATEROLE administers only the roles it created, or those granted to it: grant … to ${owner} with admin option. In every version it needs CREATE on the database`
    : `${owner} needs CREATEROLE, which an administrator gives: alter role ${owner} createrole`;
  return new Error(`${error.message}: ${remedy}`, { cause: error });
}

function passwordIn(url: string): string {
  return decodeURIComponent(new URL(url).password);
}
