import { Client, DatabaseError } from 'pg';
import { monotonicMs } from '../kit/clock.ts';
import { networkFailure } from '../kit/network-failure.ts';

/** What came of logging in, in words for an operator. */
export type Login =
  | { readonly kind: 'in'; readonly ms: number; readonly migrated: boolean }
  /** `unreachable`: nobody was spoken to. `refused`: this role may not in. `wrong place`: no such database. */
  | { readonly kind: 'unreachable' | 'refused' | 'wrong place' | 'busy'; readonly cause: string };

/** One connection of its own, opened and closed: it shows whether this address works from here, now. */
export async function tryLogin(url: string, withinMs: number): Promise<Login> {
  const client = new Client({
    connectionString: url,
    application_name: 'caudal-doctor',
    connectionTimeoutMillis: withinMs,
    query_timeout: withinMs,
  });
  // A connection that is cut while nobody asks it anything would end the process.
  client.on('error', () => undefined);
  const began = monotonicMs();
  try {
    await client.connect();
    const ms = monotonicMs() - began;
    const { rows } = await client.query<{ there: boolean }>(
      "select exists (select from pg_namespace where nspname = 'caudal_meta') as there",
    );
    return { kind: 'in', ms, migrated: rows[0]?.there === true };
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

function refusalOf(error: unknown, withinMs: number): Login {
  if (!(error instanceof DatabaseError)) {
    const cause = networkFailure(error);
    return {
      kind: 'unreachable',
      cause: cause === 'no answer in time' ? `no answer within ${withinMs / 1000} s` : cause,
    };
  }
  const state = error.code ?? '';
  if (state === '28P01') return { kind: 'refused', cause: 'wrong password, or there is no such role' };
  if (state.startsWith('28')) return { kind: 'refused', cause: `not let in: ${error.message}` };
  if (state === '42501') return { kind: 'refused', cause: `it may not connect: ${error.message}` };
  if (state === '3D000') return { kind: 'wrong place', cause: error.message };
  if (state === '53300') return { kind: 'busy', cause: 'all its connections are taken' };
  if (state.startsWith('57P')) return { kind: 'busy', cause: `it is starting or stopping: ${error.message}` };
  return { kind: 'busy', cause: `${error.message} (${state})` };
}
