import { Client, DatabaseError } from 'pg';
import { monotonicMs } from '../kit/clock.ts';
import { networkFailure } from '../kit/network-failure.ts';
import { sessionOptions } from './pool.ts';
import { isDirect, isPoolerRefusal, POOLER_FAULT } from './pooler.ts';

/** Result of a login attempt, with its cause in words for an operator. */
export type Login = Entry | Refusal;

interface Entry {
  readonly kind: 'in';
  readonly ms: number;
  readonly migrated: boolean;
  /** Name and number of the database: the same for every role that is in it. */
  readonly database: string;
}

interface Refusal {
  /**
   * `unreachable`: no server answered. `password`: the role does not exist or has another password. `refused`: the
   * role may not log in. `wrong place`: no such database. `pooler`: a pooler answered instead of PostgreSQL.
   */
  readonly kind: 'unreachable' | 'password' | 'refused' | 'no_such_database' | 'busy' | 'pooler';
  readonly cause: string;
}

const FACTS = `
  select exists (select from pg_namespace where nspname = 'caudal_meta') as there,
    (select datname || ' ' || oid from pg_database where datname = current_database()) as database`;

/** One connection of its own, opened and closed: it shows whether this address works from here, now. */
export async function tryLogin(
  url: string,
  withinMs: number,
  applicationName = 'caudal-doctor',
): Promise<Login> {
  const client = new Client({
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
    options: sessionOptions(withinMs),
  });
  // A connection that is cut while nobody asks it anything would end the process.
  client.on('error', () => undefined);
  const began = monotonicMs();
  try {
    await client.connect();
    const ms = monotonicMs() - began;
    if (!(await isDirect(client))) return { kind: 'pooler', cause: POOLER_FAULT };
    const { rows } = await client.query<{ there: boolean; database: string }>(FACTS);
    return { kind: 'in', ms, migrated: rows[0]?.there === true, database: rows[0]?.database ?? '' };
  } catch (error) {
    return refusalOf(error, withinMs);
  } finally {
    leave(client);
  }
}

/** Not politely: a database that has fallen silent never answers a goodbye. */
function leave(client: Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  stream.destroy();
}

function refusalOf(error: unknown, withinMs: number): Refusal {
  if (!(error instanceof DatabaseError)) {
    const cause = networkFailure(error);
    return {
      kind: 'unreachable',
      cause: cause === 'no answer in time' ? `no answer within ${withinMs / 1000} s` : cause,
    };
  }
  const state = error.code ?? '';
  if (isPoolerRefusal(error)) return { kind: 'pooler', cause: POOLER_FAULT };
  if (state === '28P01') return { kind: 'password', cause: 'wrong password, or there is no such role' };
  if (state.startsWith('28')) return { kind: 'refused', cause: `not let in: ${error.message}` };
  if (state === '42501') return { kind: 'refused', cause: `it may not connect: ${error.message}` };
  if (state === '3D000') return { kind: 'no_such_database', cause: error.message };
  if (state === '53300') return { kind: 'busy', cause: 'all its connections are taken' };
  if (state.startsWith('57P')) return { kind: 'busy', cause: `it is starting or stopping: ${error.message}` };
  return { kind: 'busy', cause: `${error.message} (${state})` };
}

export interface LoginFailure {
  /** PostgreSQL answered and does not let this role into this database: waiting does not help. */
  readonly refused: boolean;
  /** It answers, but not now: it is starting, or has no connection left. */
  readonly busy: boolean;
  readonly message: string;
}

/** One connection to each address, and those that failed. */
export async function failedLogins(
  urls: readonly string[],
  withinMs: number,
  applicationName: string,
): Promise<LoginFailure[]> {
  const logins = await Promise.all(urls.map((url) => tryLogin(url, withinMs, applicationName)));
  return loginFailures(urls, logins);
}

/** @param logins in the order of their addresses; the last is of the database that the others must be in */
export function loginFailures(urls: readonly string[], logins: readonly Login[]): LoginFailure[] {
  const expected = logins.at(-1);
  return logins.flatMap((login, index) => {
    const { username, host, pathname } = new URL(urls[index] ?? '');
    const role = decodeURIComponent(username);
    const at = `${role} at ${host}${pathname}`;
    if (login.kind === 'in')
      return expected?.kind === 'in' && login.database !== expected.database
        ? [{ refused: true, busy: false, message: `the address of ${at} is of another database` }]
        : [];
    const refused = login.kind !== 'unreachable' && login.kind !== 'busy';
    const message =
      login.kind === 'password' || login.kind === 'refused'
        ? `PostgreSQL refuses the login of ${role}: ${login.cause}`
        : `${login.cause} (${at})`;
    return [{ refused, busy: login.kind === 'busy', message }];
  });
}
