import type { Stage } from '../run/stage.ts';
import type { Tenant } from '../tenants/tenant.ts';

/** Endpoints that exist: the requests before have deleted some that they created. */
export async function refreshEndpoints({ stack, a, b, sinkUrl }: Stage): Promise<void> {
  const url = `${stack.apis[0]?.url ?? ''}/webhook-endpoints`;
  for (const tenant of [a, b]) {
    const headers = { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' };
    await fetch(url, {
      method: 'POST',
      headers,
      body: JSON.stringify({ url: `${sinkUrl}/${tenant.name}/probe` }),
    });
    const { data } = (await (await fetch(url, { headers })).json()) as { data: readonly { id: string }[] };
    tenant.pool('webhook-endpoints').replace(data.map(({ id }) => id));
  }
}

/** Keeps the first endpoint of B: the probes create more than an organization may have. */
export async function deleteExtraEndpoints({ stack, b }: Stage): Promise<void> {
  const url = `${stack.apis[0]?.url ?? ''}/webhook-endpoints`;
  const headers = { 'x-api-key': b.apiKey };
  const { data } = (await (await fetch(url, { headers })).json()) as { data: readonly { id: string }[] };
  const kept = b.pool('webhook-endpoints').distinct[0];
  for (const { id } of data) if (id !== kept) await fetch(`${url}/${id}`, { method: 'DELETE', headers });
}

/** Anomalies appear in responses only after payments went wrong; the database has them at once. */
export async function addAnomalies(stage: Stage): Promise<void> {
  for (const tenant of [stage.a, stage.b] as Tenant[]) {
    const rows = await stage.stack.query<{ id: string; payin: string }>(
      'select id, payin_id as payin from caudal.anomalies where organization_id = $1 and payin_id is not null limit 20',
      [tenant.organizationId],
    );
    for (const { id } of rows) tenant.pool('anomalies').add(id);
  }
}

/** As the owner of the schema, on the test's own database: the conditions of the queries must now hold alone. */
export async function disableRowLevelSecurity({ stack }: Stage): Promise<void> {
  const tables = await stack.query<{ name: string }>(
    `select oid::regclass::text as name from pg_class
     where relnamespace = 'caudal'::regnamespace and relkind in ('r', 'p') and relrowsecurity`,
  );
  if (tables.length === 0) throw new Error('no table has row-level security');
  for (const { name } of tables)
    await stack.query(`alter table ${name} no force row level security, disable row level security`);
  const [left] = await stack.query<{ count: number }>(
    `select count(*)::int as count from pg_class where relnamespace = 'caudal'::regnamespace and relrowsecurity`,
  );
  if (left?.count !== 0) throw new Error('row-level security is still enabled');
}
