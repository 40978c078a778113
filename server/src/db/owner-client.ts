import { Client } from 'pg';

/**
 * Session settings of the schema's owner. JIT is off as in every session of ours: below PostgreSQL 18 a plan that
 * avoids a disabled node is priced above the JIT threshold, and compiling takes longer than the statement.
 */
export const OWNER_SESSION = '-c timezone=UTC -c jit=off';

/** A connection as the owner of the schema, not yet opened. */
export function ownerClient(ownerUrl: string, applicationName: string): Client {
  const client = new Client({
    connectionString: ownerUrl,
    application_name: applicationName,
    options: OWNER_SESSION,
  });
  // A connection lost between two statements fails the next one; unheard, the event would end the process.
  client.on('error', () => {});
  return client;
}
