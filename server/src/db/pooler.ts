import { type Client, DatabaseError } from 'pg';

export const POOLER_ERROR =
  'a connection pooler such as pgbouncer answers instead of PostgreSQL. Poolers are not supported: sessions need their own settings and prepared statements. Use the address of PostgreSQL itself';

/**
 * Whether the client is connected to PostgreSQL itself. A pooler reports process ids of its own, or drops the session
 * settings sent at login.
 * @param client connected with `jit=off` in its options
 */
export async function isDirect(client: Client): Promise<boolean> {
  const { rows } = await client.query<{ pid: number; jit: string }>(
    "select pg_backend_pid() as pid, current_setting('jit') as jit",
  );
  const { processID } = client as unknown as { processID: number | null };
  return rows[0]?.pid === processID && rows[0]?.jit === 'off';
}

/** How pgbouncer answers a login with `options`, unless it is configured to ignore them. */
export function isPoolerRejection(error: unknown): boolean {
  return error instanceof DatabaseError && /unsupported startup parameter/.test(error.message);
}
