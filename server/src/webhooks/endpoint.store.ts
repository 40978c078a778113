import { bytes, ROW_ID, type RowId, text } from '../db/columns.ts';
import { queryRecord, queryRecords, type RecordOf, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';
import type { Actor } from '../kit/actor.ts';
import type { KeyRing } from '../kit/key-ring.ts';
import { decryptPart, decryptStaticHeader } from './endpoint.encryption.ts';
import type { DisabledReason, Endpoint } from './endpoint.ts';

export interface NewEndpoint extends RowId {
  readonly encryptedUrl: Buffer;
  readonly events: readonly string[] | null;
  readonly description: string | null;
  readonly encryptedStaticHeader: Buffer | null;
  readonly encryptedSecret: Buffer;
  readonly createdBy: Actor;
}

const COLUMNS =
  'e.organization_id, e.id, e.address, e.events, e.description, e.static_header, e.status, e.disabled_reason, e.created_at, e.updated_at';

const INSERT = statement(
  'webhook-endpoint.insert',
  `with moment as materialized (select caudal.now() as at),
   queue as (insert into caudal.webhook_queues (organization_id, endpoint_id) values ($1, $2))
   insert into caudal.webhook_endpoints as e (organization_id, id, address, events, description, static_header, secret, created_by, status, created_at, updated_at)
   select $1, $2, $3, $4::text[], $5, $6, $7, $8, 'ENABLED', at, at from moment
   returning ${COLUMNS}`,
);

/** An endpoint with its encrypted parts. */
export interface EndpointRecord extends Omit<Endpoint, 'url' | 'staticHeader'> {
  readonly address: Buffer;
  readonly staticHeader: Buffer | null;
}

export async function insertEndpoint(tx: Tx, endpoint: NewEndpoint): Promise<EndpointRecord> {
  const { organizationId, id, encryptedUrl, events, description } = endpoint;
  const { encryptedStaticHeader, encryptedSecret, createdBy } = endpoint;
  const values = [
    organizationId,
    id,
    encryptedUrl,
    events,
    description,
    encryptedStaticHeader,
    encryptedSecret,
    createdBy,
  ];
  const [inserted] = await queryRecords<EndpointRecord>(tx, INSERT, values);
  if (!inserted) throw new Error('no endpoint was inserted');
  return inserted;
}

const FIND = statement(
  'webhook-endpoint.find',
  `select ${COLUMNS} from caudal.webhook_endpoints e where e.organization_id = $1 and e.id = $2 and e.deleted_at is null`,
);

export function findEndpoint(tx: Tx, organizationId: string, id: string): Promise<EndpointRecord | null> {
  return queryRecord(tx, FIND, [organizationId, id]);
}

const STORE_CREATION_RESPONSE = statement(
  'webhook-endpoint.store-creation-response',
  'update caudal.webhook_endpoints set created_as = $3 where organization_id = $1 and id = $2',
);

/** Stores the response of the creation, for retries of that request with the same idempotency key. */
export async function storeCreationResponse(
  tx: Tx,
  organizationId: string,
  id: string,
  encryptedResponse: Buffer,
): Promise<void> {
  await tx.query(STORE_CREATION_RESPONSE, [organizationId, id, encryptedResponse]);
}

const FIND_CREATION_RESPONSE = statement(
  'webhook-endpoint.find-creation-response',
  'select created_as from caudal.webhook_endpoints where organization_id = $1 and id = $2',
);

/** Also finds the response of an endpoint deleted since. */
export async function findCreationResponse(
  tx: Tx,
  organizationId: string,
  id: string,
): Promise<Buffer | null> {
  const [row] = await tx.query<{ created_as: Buffer | null }>(FIND_CREATION_RESPONSE, [organizationId, id]);
  return row?.created_as ?? null;
}

const LIST = statement(
  'webhook-endpoint.list',
  `select ${COLUMNS} from caudal.webhook_endpoints e where e.organization_id = $1 and e.deleted_at is null order by e.id desc limit $2`,
);

export function listEndpoints(tx: Tx, organizationId: string, limit: number): Promise<EndpointRecord[]> {
  return queryRecords(tx, LIST, [organizationId, limit]);
}

/** An undefined member is left unchanged. */
export interface EndpointChange {
  readonly encryptedUrl?: Buffer | undefined;
  readonly events?: readonly string[] | null | undefined;
  readonly description?: string | null | undefined;
  readonly encryptedStaticHeader?: Buffer | null | undefined;
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

/** @returns null when the endpoint does not exist */
export function changeEndpoint(
  tx: Tx,
  organizationId: string,
  id: string,
  change: EndpointChange,
  disabledReason: DisabledReason,
): Promise<EndpointRecord | null> {
  return queryRecord(tx, CHANGE, [
    organizationId,
    id,
    change.encryptedUrl ?? null,
    change.events !== undefined,
    change.events ?? null,
    change.description !== undefined,
    change.description ?? null,
    change.encryptedStaticHeader !== undefined,
    change.encryptedStaticHeader ?? null,
    change.status ?? null,
    disabledReason,
  ]);
}

const ROTATE = statement(
  'webhook-endpoint.rotate',
  `update caudal.webhook_endpoints e set
     older_secret = e.previous_secret, older_until = e.previous_until,
     previous_secret = e.secret, previous_until = caudal.now() + make_interval(secs => $4), secret = $3, updated_at = greatest(caudal.now(), e.updated_at)
   where e.organization_id = $1 and e.id = $2 and e.deleted_at is null
   returning ${COLUMNS}`,
);

/**
 * The replaced secret keeps signing for `overlapSeconds`, and the secret before it until its own deadline.
 * @returns null when the endpoint does not exist
 */
export function rotateSecret(
  tx: Tx,
  organizationId: string,
  id: string,
  encryptedSecret: Buffer,
  overlapSeconds: number,
): Promise<EndpointRecord | null> {
  return queryRecord(tx, ROTATE, [organizationId, id, encryptedSecret, overlapSeconds]);
}

const DELETE = statement(
  'webhook-endpoint.delete',
  `update caudal.webhook_endpoints e set deleted_at = caudal.now(), updated_at = greatest(caudal.now(), e.updated_at)
   where e.organization_id = $1 and e.id = $2 and e.deleted_at is null returning 1`,
);

export async function deleteEndpoint(tx: Tx, organizationId: string, id: string): Promise<boolean> {
  return (await tx.query(DELETE, [organizationId, id])).length > 0;
}

const FAILED = new RowSet({
  ...ROW_ID,
  reason: text<DisabledReason>(),
  /** The URL that failed. */
  encrypted_url: bytes,
});

const DISABLE = statement(
  'webhook-endpoint.disable',
  `update caudal.webhook_endpoints e set status = 'DISABLED', disabled_reason = d.reason, updated_at = greatest(caudal.now(), e.updated_at)
   from ${FAILED.as('d')}
   where e.organization_id = d.organization_id and e.id = d.id and e.status = 'ENABLED' and e.deleted_at is null
     -- The merchant may have changed the URL meanwhile.
     and e.address = d.encrypted_url
   returning e.organization_id, e.id, d.reason`,
);

export type DisabledEndpoint = Omit<RecordOf<typeof FAILED>, 'encryptedUrl'>;

/**
 * Disables endpoints on behalf of the service. Their deliveries stay pending and continue once they are enabled again.
 * @returns the endpoints that were enabled before
 */
export async function disableEndpoints(
  tx: Tx,
  endpoints: readonly RecordOf<typeof FAILED>[],
): Promise<DisabledEndpoint[]> {
  if (endpoints.length === 0) return [];
  return queryRecords(tx, DISABLE, FAILED.parameters(endpoints));
}

export function decryptEndpoint(
  { address, staticHeader, ...endpoint }: EndpointRecord,
  dataKey: KeyRing,
): Endpoint {
  const { organizationId, id } = endpoint;
  return {
    ...endpoint,
    url: decryptPart(dataKey, 'address', address, organizationId, id).toString('utf8'),
    staticHeader: decryptStaticHeader(dataKey, staticHeader, organizationId, id),
  };
}
