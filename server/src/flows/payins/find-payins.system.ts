import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { uuidFloor } from '../../kit/ids.ts';
import { parseResourceReference } from '../../kit/resource-reference.ts';
import { resourcesOfCauses } from '../../ledger/ledger.store.ts';
import { organizationsByNumber } from '../../organizations/organization.store.ts';
import { type DetailedPayin, payinDetails } from '../../payins/payin-details.store.ts';
import { findPayinsByBrebKeys } from '../../payins/payin-outcome.store.ts';
import {
  payinsByCus,
  payinsById,
  payinsByReference,
  payinsCreatedWithin,
} from '../../payins/payin-search.store.ts';
import { RAILS } from '../../rails/contract.ts';

/** What a payer or a bank knows about a payment. All given criteria must match. */
export interface PayinSearch {
  readonly id?: string | undefined;
  readonly reference?: string | undefined;
  readonly brebKey?: string | undefined;
  readonly cus?: string | undefined;
  /** Our reference at PSE, or the rail's execution id of a posted payment. */
  readonly transaction?: string | undefined;
  /** In cents: the requested or the confirmed amount. */
  readonly amount?: bigint | undefined;
  readonly created?: { readonly from: Date; readonly to: Date } | undefined;
  readonly organizationId?: string | undefined;
}

/** Tolerance for a database clock that was set back: the time in an id can differ this much from the row's. */
const CLOCK_STEP_MS = 3 * 3_600_000;

/**
 * Finds payins of any organization, newest first. Each search uses an index: the id, reference, Bre-B key, CUS or
 * transaction, or else the creation time.
 */
export async function findPayins(
  deps: Pick<SystemDeps, 'system'>,
  search: PayinSearch,
  limit: number,
): Promise<DetailedPayin[]> {
  return deps.system.transaction('read', async (tx) => {
    const found = await payinDetails(tx, await candidates(tx, search, limit));
    return found.filter((payin) => matches(payin, search)).slice(0, limit);
  });
}

async function candidates(tx: Tx, search: PayinSearch, limit: number): Promise<RowId[]> {
  if (search.id !== undefined) return payinsById(tx, search.id);
  if (search.brebKey !== undefined) return [...(await findPayinsByBrebKeys(tx, [search.brebKey])).values()];
  if (search.transaction !== undefined) return byTransaction(tx, search.transaction);
  if (search.cus !== undefined) return payinsByCus(tx, search.cus, limit);
  if (search.reference !== undefined) return payinsByReference(tx, search.reference, limit);
  if (search.created === undefined)
    throw new Error('a payin search requires an id, reference, Bre-B key, CUS, transaction or creation time');
  const { from, to } = search.created;
  return payinsCreatedWithin(
    tx,
    {
      from,
      to,
      firstId: uuidFloor(from.getTime() - CLOCK_STEP_MS),
      lastId: uuidFloor(to.getTime() + CLOCK_STEP_MS),
      amount: search.amount ?? null,
      organizationId: search.organizationId ?? null,
    },
    limit,
  );
}

async function byTransaction(tx: Tx, transaction: string): Promise<RowId[]> {
  const parsed = parseResourceReference(transaction);
  if (parsed) {
    const organizations = await organizationsByNumber(tx, [parsed.organizationNumber]);
    const organizationId = organizations.get(parsed.organizationNumber);
    if (organizationId !== undefined) return [{ organizationId, id: parsed.id }];
  }
  const posted = await resourcesOfCauses(
    tx,
    'payment',
    RAILS.map((rail) => `${rail}:${transaction}`),
  );
  return posted.map(({ organizationId, resourceId }) => ({ organizationId, id: resourceId }));
}

function matches(payin: DetailedPayin, search: PayinSearch): boolean {
  const { amount, created } = search;
  return (
    (search.id ?? payin.id) === payin.id &&
    (search.organizationId ?? payin.organization_id) === payin.organization_id &&
    (search.reference ?? payin.reference) === payin.reference &&
    (search.brebKey === undefined || search.brebKey === payin.breb_key) &&
    (search.cus === undefined || search.cus === payin.pse_cus) &&
    (amount === undefined ||
      amount === payin.amount_in_cents ||
      amount === payin.confirmed_amount_in_cents) &&
    (created === undefined || (payin.created_at >= created.from && payin.created_at < created.to))
  );
}
