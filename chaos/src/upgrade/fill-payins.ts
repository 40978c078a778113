import { Client } from 'pg';

const ROWS_PER_STATEMENT = 250_000;
const CONNECTIONS = 2;

/** Ended payins, spread evenly over the first ten days of this month, with ids as the server makes them. */
const FILL = `insert into caudal.payins
    (organization_id, id, amount_in_cents, currency, rail, status, error_code, reference,
     created_at, updated_at, expires_at, result_at, breb_key_type, breb_key, customer)
  select $1, (lpad(to_hex((extract(epoch from at) * 1000)::bigint), 12, '0') || '7000' || '8001' || lpad(to_hex(n), 12, '0'))::uuid,
    5000000, 'COP', 'BRE_B', 'CANCELED', 'EXPIRED', 'filled-' || n, at, at, at, at, 'SINGLE_USE', 'filled' || n,
    decode(repeat('00', 150), 'hex')
  from generate_series($2::bigint, $3::bigint) n,
    lateral (select date_trunc('month', caudal.now(), 'UTC') + n * (interval '10 days' / $4::float8) as at)`;

/**
 * Fills the partition in use with payins of an organization.
 * @param url of a superuser: triggers and row-level security do not apply
 */
export async function fillPayins(url: string, organizationId: string, rows: number): Promise<void> {
  let next = 1;
  const fill = async (client: Client) => {
    await client.query('set synchronous_commit = off');
    await client.query('set session_replication_role = replica');
    while (next <= rows) {
      const from = next;
      next += ROWS_PER_STATEMENT;
      await client.query(FILL, [organizationId, from, Math.min(rows, next - 1), rows]);
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, () => withClient(url, fill)));
  await withClient(url, async (client) => {
    await client.query('vacuum analyze caudal.payins');
    await client.query('checkpoint');
  });
}

async function withClient(url: string, work: (client: Client) => Promise<void>): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
