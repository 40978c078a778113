import { Client } from 'pg';

/**
 * Session settings of the schema owner. JIT is off in every session: before PostgreSQL 18, plans with disabled nodes
 * cost more than the JIT threshold, and compiling takes longer than running the statement.
 */
export const OWNER_SESSION = '-c timezone=UTC -c jit=off';

/** A client that logs in as the schema owner; the caller connects it. */
export function ownerClient(ownerUrl: string, applicationName: string): Client {
  const client = new Client({
    connectionString: ownerUrl,
    application_name: applicationName,
    options: OWNER_SESSION,
  });
  // A connection lost between statements fails the next one. Without a listener, the event would crash the process.
  client.on('error', () => {});
  return client;
}
