import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import { parseResourceReference } from '../../kit/resource-reference.ts';
import { organizationsByNumber } from '../../organizations/organization.store.ts';
import type { Rail, RailNotification } from '../../rails/contract.ts';

/** News about one payin or payout: a notification of the rail, a queried status, or both. */
export interface RailUpdate<Status> {
  readonly rail: Rail;
  readonly reference: string;
  /** With a `railStatus`: the notification that led to the query. */
  readonly notification: RailNotification | null;
  readonly railStatus: Status | null;
  /**
   * The notification is older than the rail's processing window: if the status does not confirm it, that is conclusive.
   * Without a notification, this refers to the payment that confirmed the payin.
   */
  readonly pastProcessingWindow: boolean;
}

/** `duplicate`: nothing new. `needs_verification`: not applied, the rail must be queried first. */
export type UpdateResult = 'applied' | 'duplicate' | 'needs_verification' | 'unconfirmed';

export interface ApplyOptions {
  /** The lease on the resources of the updates: those that stay open get their next poll. Omitted when they are not leased. */
  readonly leaseToken?: string;
  /** Runs before the ledger postings: the balance row is the most contended one, so it is locked last. */
  readonly conclude?: (results: readonly UpdateResult[]) => Promise<void>;
  /** Called with the stored trace of each update's payin or payout, in order. */
  readonly onTraces?: (traces: readonly (Buffer | null)[]) => void;
}

/** Applies rail updates in the caller's transaction. */
export type ApplyUpdates<Status> = (
  tx: Tx,
  updates: readonly RailUpdate<Status>[],
  options: ApplyOptions,
) => Promise<unknown>;

/** Includes the organization, because a reference can combine an id with another organization's number. */
export function toRowKey(organizationId: string, id: string): string {
  return `${organizationId}/${id}`;
}

export function distinctRows<Id extends RowId>(rows: Iterable<Id>): Id[] {
  return [...new Map([...rows].map((row) => [toRowKey(row.organizationId, row.id), row])).values()];
}

/** Finds the resources whose organization number and id our references encode. */
export async function findByReference(tx: Tx, references: readonly string[]): Promise<Map<string, RowId>> {
  const parsed = references.flatMap((reference) => {
    const named = parseResourceReference(reference);
    return named ? [{ reference, ...named }] : [];
  });
  const organizations = await organizationsByNumber(
    tx,
    parsed.map(({ organizationNumber }) => organizationNumber),
  );
  return new Map(
    parsed.flatMap(({ reference, organizationNumber, id }) => {
      const organizationId = organizations.get(organizationNumber);
      return organizationId === undefined ? [] : [[reference, { organizationId, id }] as const];
    }),
  );
}

/**
 * A queried status may be older than the notification that led to the query: then the status is applied, but the
 * notification is verified again later.
 */
export function isPremature<Status>(
  { notification, railStatus, pastProcessingWindow }: RailUpdate<Status>,
  isConfirmedBy: (railStatus: Status, notification: RailNotification) => boolean,
): boolean {
  return (
    railStatus !== null &&
    notification !== null &&
    !pastProcessingWindow &&
    !isConfirmedBy(railStatus, notification)
  );
}
