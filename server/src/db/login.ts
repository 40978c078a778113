import { Client, DatabaseError } from 'pg';
import { monotonicMs } from '../kit/clock.ts';
import { describeNetworkFailure } from '../kit/network-failure.ts';
import { sessionOptions } from './pool.ts';
import { isDirect, isPoolerRejection, POOLER_ERROR } from './pooler.ts';

/** Result of a login attempt; a failure carries its cause as a sentence for operators. */
export type Login = LoginSuccess | LoginError;

interface LoginSuccess {
  readonly kind: 'connected';
  readonly ms: number;
  readonly migrated: boolean;
  /** Name and oid of the database: identical for every role that connects to it. */
  readonly database: string;
}

interface LoginError {
  /**
   * `unreachable`: no server answered. `wrong_password`: the role does not exist or has another password. `rejected`:
   * the role may not log in. `busy`: PostgreSQL is starting, stopping or out of connections. `pooler`: a connection
   * pooler answered instead of PostgreSQL.
   */
  readonly kind: 'unreachable' | 'wrong_password' | 'rejected' | 'no_such_database' | 'busy' | 'pooler';
  readonly cause: string;
}

const FACTS = `
  select exists (select from pg_namespace where nspname = 'caudal_meta') as migrated,
    (select datname || ' ' || oid from pg_database where datname = current_database()) as database`;

/** Opens and closes one dedicated connection to check whether this URL works from this machine. */
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
  // Without a listener, a connection lost while idle would crash the process.
  client.on('error', () => undefined);
  const startedAt = monotonicMs();
  try {
    await client.connect();
    const ms = monotonicMs() - startedAt;
    if (!(await isDirect(client))) return { kind: 'pooler', cause: POOLER_ERROR };
    const { rows } = await client.query<{ migrated: boolean; database: string }>(FACTS);
    return {
      kind: 'connected',
      ms,
      migrated: rows[0]?.migrated === true,
      database: rows[0]?.database ?? '',
    };
  } catch (error) {
    return toLoginError(error, withinMs);
  } finally {
    disconnect(client);
  }
}

/** Destroys the socket: an unresponsive server never answers a graceful disconnect. */
function disconnect(client: Client): void {
  const { stream } = (client as unknown as { connection: { stream: { destroy(): void } } }).connection;
  stream.destroy();
}

function toLoginError(error: unknown, withinMs: number): LoginError {
  if (!(error instanceof DatabaseError)) {
    const cause = describeNetworkFailure(error);
    return {
      kind: 'unreachable',
      cause: cause === 'no response in time' ? `no answer within ${withinMs / 1000} s` : cause,
    };
  }
  const state = error.code ?? '';
  if (isPoolerRejection(error)) return { kind: 'pooler', cause: POOLER_ERROR };
  if (state === '28P01') return { kind: 'wrong_password', cause: 'wrong password, or there is no such role' };
  if (state.startsWith('28')) return { kind: 'rejected', cause: `login rejected: ${error.message}` };
  if (state === '42501') return { kind: 'rejected', cause: `no permission to connect: ${error.message}` };
  if (state === '3D000') return { kind: 'no_such_database', cause: error.message };
  if (state === '53300') return { kind: 'busy', cause: 'PostgreSQL has no free connections' };
  if (state.startsWith('57P'))
    return { kind: 'busy', cause: `PostgreSQL is starting or stopping: ${error.message}` };
  return { kind: 'busy', cause: `${error.message} (${state})` };
}

export interface LoginFailure {
  /** PostgreSQL rejected the login of this role to this database: waiting does not help. */
  readonly rejected: boolean;
  /** PostgreSQL is starting or has no free connections: waiting may help. */
  readonly busy: boolean;
  readonly message: string;
}

/** Tries one login per URL. @returns the failures */
export async function failedLogins(
  urls: readonly string[],
  withinMs: number,
  applicationName: string,
): Promise<LoginFailure[]> {
  const logins = await Promise.all(urls.map((url) => tryLogin(url, withinMs, applicationName)));
  return loginFailures(urls, logins);
}

/** @param logins in the order of `urls`; the last one names the database that all others must connect to */
export function loginFailures(urls: readonly string[], logins: readonly Login[]): LoginFailure[] {
  const expected = logins.at(-1);
  return logins.flatMap((login, index) => {
    const { username, host, pathname } = new URL(urls[index] ?? '');
    const role = decodeURIComponent(username);
    const at = `${role} at ${host}${pathname}`;
    if (login.kind === 'connected')
      return expected?.kind === 'connected' && login.database !== expected.database
        ? [{ rejected: true, busy: false, message: `the address of ${at} is of another database` }]
        : [];
    const rejected = login.kind !== 'unreachable' && login.kind !== 'busy';
    const message =
      login.kind === 'wrong_password' || login.kind === 'rejected'
        ? `PostgreSQL rejects the login of ${role}: ${login.cause}`
        : `${login.cause} (${at})`;
    return [{ rejected, busy: login.kind === 'busy', message }];
  });
}
