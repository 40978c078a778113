import type { Client } from 'pg';
import { deadline } from '../kit/deadline.ts';
import { tryLogin } from './login.ts';

/** A login role that `migrate` creates and checks. */
export interface LoginRole {
  readonly name: string;
  /** URL with the intended password; null when an administrator sets the password. */
  readonly url: string | null;
}

export interface RoleState extends LoginRole {
  readonly exists: boolean;
  readonly superuser: boolean;
  readonly bypassesRls: boolean;
  readonly canLogin: boolean;
  /** Comment on the role, which names its deployment (`ownerComment`). */
  readonly comment: string | null;
  /** Other databases of the cluster in which the role has privileges. */
  readonly usedBy: readonly string[];
  readonly passwordDiffers: boolean;
}

const LOGIN_WITHIN_MS = 5000;

const STATES = `
  select r.rolname as name, r.rolsuper as superuser, r.rolbypassrls as bypasses_rls, r.rolcanlogin as can_login,
    shobj_description(r.oid, 'pg_authid') as comment,
    array(
      select distinct d.datname::text
      from pg_shdepend s
      join pg_database d on d.oid = case when s.classid = 'pg_database'::regclass then s.objid else s.dbid end
      where s.refclassid = 'pg_authid'::regclass and s.refobjid = r.oid and d.datname <> current_database()
      order by 1
    ) as used_by
  from pg_roles r where r.rolname = any ($1)`;

interface Row {
  readonly name: string;
  readonly superuser: boolean;
  readonly bypasses_rls: boolean;
  readonly can_login: boolean;
  readonly comment: string | null;
  readonly used_by: string[];
}

/** Reads the state of each role. Read-only. */
export async function roleStates(client: Client, roles: readonly LoginRole[]): Promise<RoleState[]> {
  const { rows } = await client.query<Row>(STATES, [roles.map(({ name }) => name)]);
  return Promise.all(
    roles.map(async (role) => {
      const row = rows.find(({ name }) => name === role.name);
      return {
        ...role,
        exists: row !== undefined,
        superuser: row?.superuser === true,
        bypassesRls: row?.bypasses_rls === true,
        canLogin: row?.can_login === true,
        comment: row?.comment ?? null,
        usedBy: row?.used_by ?? [],
        passwordDiffers:
          row?.can_login === true && role.url !== null && !(await passwordWorks(role.name, role.url)),
      };
    }),
  );
}

/**
 * Checks the password by logging in: only a superuser may read the stored password hash.
 * @throws when the login fails for a reason other than the password
 */
export async function passwordWorks(name: string, url: string): Promise<boolean> {
  const login = await tryLogin(url, deadline(LOGIN_WITHIN_MS), 'caudal-migrate');
  if (login.kind === 'connected') return true;
  if (login.kind === 'wrong_password') return false;
  throw new Error(`the role ${name} cannot log in: ${login.cause}`);
}
