import { statement, type Tx } from '../db/tx.ts';
import type { SecretKey } from '../kit/crypto.ts';
import { openPart, openStaticHeader } from './endpoint.seal.ts';
import type { Endpoint } from './endpoint.ts';

export interface NewEndpoint {
  readonly organizationId: string;
  readonly id: string;
  readonly sealedAddress: Buffer;
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly sealedStaticHeader: Buffer | null;
  readonly sealedSecret: Buffer;
}

const COLUMNS =
  'e.organization_id, e.id, e.address, e.events, e.description, e.static_header, e.status, e.disabled_reason, e.created_at, e.updated_at';

const INSERT = statement(
  'webhook-endpoint.insert',
  `with moment as materialized (select caudal.now() as at),
   line as (insert into caudal.webhook_queues (organization_id, endpoint_id) values ($1, $2))
   insert into caudal.webhook_endpoints as e (organization_id, id, address, events, description, static_header, secret, status, created_at, updated_at)
   select $1, $2, $3, $4::text[], $5, $6, $7, 'ENABLED', at, at from moment
   returning ${COLUMNS}`,
);

export interface EndpointRow {
  organization_id: string;
  id: string;
  address: Buffer;
  events: string[] | null;
  description: string | null;
  static_header: Buffer | null;
  status: Endpoint['status'];
  disabled_reason: string | null;
  created_at: Date;
  updated_at: Date;
}

export async function insertEndpoint(tx: Tx, endpoint: NewEndpoint): Promise<EndpointRow> {
  const [row] = await tx.query<EndpointRow>(INSERT, [
    endpoint.organizationId,
    endpoint.id,
    endpoint.sealedAddress,
    endpoint.events,
    endpoint.description,
    endpoint.sealedStaticHeader,
    endpoint.sealedSecret,
  ]);
  if (!row) throw new Error('no endpoint was inserted');
  return row;
}

const FIND = statement(
  'webhook-endpoint.find',
  `select ${COLUMNS} from caudal.webhook_endpoints e where e.organization_id = $1 and e.id = $2 and e.deleted_at is null`,
);

export async function findEndpoint(tx: Tx, organizationId: string, id: string): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(FIND, [organizationId, id]);
  return row ?? null;
}

const KEEP_CREATED = statement(
  'webhook-endpoint.keep-created',
  'update caudal.webhook_endpoints set created_as = $3 where organization_id = $1 and id = $2',
);

/** What its creation is answered, for repeats of that request. */
export async function keepCreated(
  tx: Tx,
  organizationId: string,
  id: string,
  sealedAnswer: Buffer,
): Promise<void> {
  await tx.query(KEEP_CREATED, [organizationId, id, sealedAnswer]);
}

const FIND_CREATED = statement(
  'webhook-endpoint.find-created',
  'select created_as from caudal.webhook_endpoints where organization_id = $1 and id = $2',
);

/** Also of one that was deleted since. */
export async function findCreated(tx: Tx, organizationId: string, id: string): Promise<Buffer | null> {
  const [row] = await tx.query<{ created_as: Buffer | null }>(FIND_CREATED, [organizationId, id]);
  return row?.created_as ?? null;
}

const LIST = statement(
  'webhook-endpoint.list',
  `select ${COLUMNS} from caudal.webhook_endpoints e where e.organization_id = $1 and e.deleted_at is null order by e.id desc limit $2`,
);

export function listEndpoints(tx: Tx, organizationId: string, limit: number): Promise<EndpointRow[]> {
  return tx.query<EndpointRow>(LIST, [organizationId, limit]);
}

/** Left out: stays as it is. */
export interface EndpointChange {
  readonly sealedAddress?: Buffer | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly sealedStaticHeader?: Buffer | null | undefined;
  readonly status?: Endpoint['status'] | undefined;
}

const CHANGE = statement(
  'webhook-endpoint.change',
  `update caudal.webhook_endpoints e set
     address = coalesce($3, e.address),
     events = case when $4 then $5::text[] else e.events end,
     description = case when $6 then $7 else e.description end,
     static_header = case when $8 then $9 else e.static_header end,
     status = coalesce($10, e.status),
     disabled_reason = case when coalesce($10, e.status) = 'ENABLED' then null when e.status = 'DISABLED' then e.disabled_reason else $11 end,
     updated_at = greatest(caudal.now(), e.updated_at)
   where e.organization_id = $1 and e.id = $2 and e.deleted_at is null
   returning ${COLUMNS}`,
);

/** @returns null when there is no such endpoint */
export async function changeEndpoint(
  tx: Tx,
  organizationId: string,
  id: string,
  change: EndpointChange,
  disabledReason: string,
): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(CHANGE, [
    organizationId,
    id,
    change.sealedAddress ?? null,
    change.events !== undefined,
    change.events ?? null,
    change.description !== undefined,
    change.description ?? null,
    change.sealedStaticHeader !== undefined,
    change.sealedStaticHeader ?? null,
    change.status ?? null,
    disabledReason,
  ]);
  return row ?? null;
}

const ROTATE = statement(
  'webhook-endpoint.rotate',
  `update caudal.webhook_endpoints e set
     older_secret = e.previous_secret, older_until = e.previous_until,
     previous_secret = e.secret, previous_until = caudal.now() + make_interval(secs => $4), secret = $3, updated_at = greatest(caudal.now(), e.updated_at)
   where e.organization_id = $1 and e.id = $2 and e.deleted_at is null
   returning ${COLUMNS}`,
);

/** The secret that was signs beside the new one for a while, and so does the one before it until its time is over. @returns null when there is no such endpoint */
export async function rotateSecret(
  tx: Tx,
  organizationId: string,
  id: string,
  sealedSecret: Buffer,
  overlapSeconds: number,
): Promise<EndpointRow | null> {
  const [row] = await tx.query<EndpointRow>(ROTATE, [organizationId, id, sealedSecret, overlapSeconds]);
  return row ?? null;
}

const DELETE = statement(
  'webhook-endpoint.delete',
  `update caudal.webhook_endpoints e set deleted_at = caudal.now(), updated_at = greatest(caudal.now(), e.updated_at)
   where e.organization_id = $1 and e.id = $2 and e.deleted_at is null returning 1`,
);

export async function deleteEndpoint(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  return (await tx.query(DELETE, [organizationId, id])).length > 0;
}

const DISABLE = statement(
  'webhook-endpoint.disable',
  `update caudal.webhook_endpoints e set status = 'DISABLED', disabled_reason = d.reason, updated_at = greatest(caudal.now(), e.updated_at)
   from unnest($1::uuid[], $2::uuid[], $3::text[], $4::bytea[]) as d (organization_id, id, reason, address)
   where e.organization_id = d.organization_id and e.id = d.id and e.status = 'ENABLED' and e.deleted_at is null
     -- Its owner may have given it another meanwhile.
     and e.address = d.address
   returning e.organization_id, e.id, d.reason`,
);

export interface DisabledEndpoint {
  readonly organizationId: string;
  readonly id: string;
  readonly reason: string;
}

interface FailedEndpoint extends DisabledEndpoint {
  /** At which it failed. */
  readonly sealedAddress: Buffer;
}

/**
 * By the service itself: what is held for them goes on once they are enabled again.
 * @returns those that were enabled until now
 */
export async function disableEndpoints(
  tx: Tx,
  endpoints: readonly FailedEndpoint[],
): Promise<DisabledEndpoint[]> {
  if (endpoints.length === 0) return [];
  const rows = await tx.query<{ organization_id: string; id: string; reason: string }>(DISABLE, [
    endpoints.map((each) => each.organizationId),
    endpoints.map((each) => each.id),
    endpoints.map((each) => each.reason),
    endpoints.map((each) => each.sealedAddress),
  ]);
  return rows.map(({ organization_id: organizationId, id, reason }) => ({ organizationId, id, reason }));
}

export function endpointOf(row: EndpointRow, dataKey: SecretKey): Endpoint {
  const { organization_id: organizationId, id } = row;
  return {
    organizationId,
    id,
    url: openPart(dataKey, 'address', row.address, organizationId, id).toString('utf8'),
    events: row.events,
    description: row.description,
    staticHeader: openStaticHeader(dataKey, row.static_header, organizationId, id),
    status: row.status,
    disabledReason: row.disabled_reason,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}
