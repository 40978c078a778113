import { type Client, DatabaseError } from 'pg';

export const POOLER_FAULT =
  'a connection pooler such as pgbouncer answers instead of PostgreSQL. Poolers are not supported: sessions need their own settings and prepared statements. Give the address of PostgreSQL itself';

/**
 * Whether PostgreSQL itself is at the other end. A pooler gives out process ids of its own, or drops the session
 * settings that were sent with the login.
 * @param client connected with `jit=off` among its options
 */
export async function isDirect(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number; jit: string }>(
    "select pg_backend_pid() as pid, current_setting('jit') as jit",
  );
  const { processID } = client as unknown as { processID: number | null };
  return rows[0]?.pid === processID && rows[0]?.jit === 'off';
}

/** pgbouncer answers so to a login with `options`, unless it is set to ignore them. */
export function isPoolerRefusal(error: unknown): boolean {
  return error instanceof DatabaseError && /unsupported startup parameter/.test(error.message);
}
