import { flag, nullable, text, uuid } from '../db/columns.ts';
import { queryRecords, RowSet } from '../db/records.ts';
import { statement, type Tx } from '../db/tx.ts';

/** Networks stored per API key. A new one replaces the one that was not used for the longest time. */
const MAX_NETWORKS = 500;
/** Rows whose event is so recent that it counts against the limit of events per API key. */
const RECENT_EVENT = "event_id is not null and first_seen_at > caudal.now() - interval '24 hours'";

/** A network that an API key was used from. */
export interface KeyNetwork {
  readonly network: string;
  readonly firstSeenAt: Date;
  readonly lastSeenAt: Date;
}

const LIST = statement(
  'key-network.list',
  `select network::text as network, first_seen_at, last_seen_at from caudal.api_key_networks
   where api_key_id = $1 order by first_seen_at, network`,
);

/** Oldest first. */
export function listKeyNetworks(tx: Pick<Tx, 'query'>, keyId: string): Promise<KeyNetwork[]> {
  return queryRecords(tx, LIST, [keyId]);
}

/** The use of an API key from a network. */
export interface NetworkUse {
  readonly keyId: string;
  /** `203.0.113.0/24`. */
  readonly network: string;
  /** Whether the address allow-list of the key accepted the request. */
  readonly allowed: boolean;
}

export interface LockedKey {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
}

const LOCK_KEYS = statement(
  'key-network.lock-keys',
  `select id, organization_id, name from caudal.api_keys where id = any ($1::text[]) order by id for no key update`,
);

/** Locks API keys: which network is the first of a key is decided by one process at a time. */
export function lockKeys(tx: Tx, keyIds: readonly string[]): Promise<LockedKey[]> {
  return queryRecords(tx, LOCK_KEYS, [keyIds]);
}

const USES = new RowSet({ key_id: text(), network: text(), allowed: flag });

const TOUCH = statement(
  'key-network.touch',
  `with uses as (
     select key_id, network::cidr as network, bool_or(allowed) as allowed, not bool_and(allowed) as rejected
     from ${USES.as('uses')} group by key_id, network::cidr
   ),
   touched as (
     update caudal.api_key_networks n set last_seen_at = caudal.now(), allowed = n.allowed or uses.allowed
     from uses where n.api_key_id = uses.key_id and n.network = uses.network
     returning n.api_key_id, n.network, n.allowed
   )
   select uses.key_id, uses.network::text as network, uses.allowed, uses.rejected,
     exists (select from caudal.api_key_networks n where n.api_key_id = uses.key_id and n.allowed)
       or exists (select from touched t where t.api_key_id = uses.key_id and t.allowed) as key_is_known,
     (select count(*)::int from caudal.api_key_networks n where n.api_key_id = uses.key_id and ${RECENT_EVENT}) as recent_events
   from uses where not exists (select from touched t where t.api_key_id = uses.key_id and t.network = uses.network)
   order by uses.key_id, uses.network`,
);

/** A network that is new for its API key. */
export interface NewNetwork extends NetworkUse {
  /** Whether the allow-list rejected a request; another one may have been allowed. */
  readonly rejected: boolean;
  /** Whether another network of the key was allowed before. */
  readonly keyIsKnown: boolean;
  /** Events about new networks of the key in the last 24 hours. */
  readonly recentEvents: number;
}

/** Requires locked keys. @returns the networks that are new for their key */
export function touchNetworks(tx: Tx, uses: readonly NetworkUse[]): Promise<NewNetwork[]> {
  return queryRecords(tx, TOUCH, USES.parameters(uses));
}

const NEW = new RowSet({
  organization_id: uuid,
  key_id: text(),
  network: text(),
  allowed: flag,
  event_id: nullable(uuid),
});

const INSERT = statement(
  'key-network.insert',
  `insert into caudal.api_key_networks
     (organization_id, api_key_id, network, first_seen_at, last_seen_at, allowed, event_id)
   select organization_id, key_id, network::cidr, caudal.now(), caudal.now(), allowed, event_id from ${NEW.as('new')}`,
);

// Rows that count against the limit of events are kept, or deleting them would allow further events. Networks that were
// only rejected are deleted first: their number must not displace the networks of the owner.
const TRIM = statement(
  'key-network.trim',
  `delete from caudal.api_key_networks n using (
     select api_key_id, network,
       row_number() over (partition by api_key_id order by (${RECENT_EVENT}) desc, allowed desc, last_seen_at desc, network) as position
     from caudal.api_key_networks where api_key_id = any ($1::text[])
   ) as ranked
   where n.api_key_id = ranked.api_key_id and n.network = ranked.network and ranked.position > ${MAX_NETWORKS}`,
);

/** Inserts networks and keeps the number per key bounded. */
export async function insertNetworks(
  tx: Tx,
  networks: readonly (NetworkUse & { readonly organizationId: string; readonly eventId: string | null })[],
): Promise<void> {
  await tx.query(INSERT, NEW.parameters(networks));
  await tx.query(TRIM, [[...new Set(networks.map(({ keyId }) => keyId))]]);
}
