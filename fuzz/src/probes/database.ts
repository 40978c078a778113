import type { Stage } from '../run/stage.ts';
import type { Tenant } from '../tenants/tenant.ts';

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
