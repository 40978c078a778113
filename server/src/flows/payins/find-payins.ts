import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { uuidFloor } from '../../kit/ids.ts';
import { readResourceReference } from '../../kit/resource-reference.ts';
import { resourcesOfCauses } from '../../ledger/ledger.store.ts';
import { organizationsByNumber } from '../../organizations/organization.store.ts';
import { type DetailedPayin, payinDetails } from '../../payins/payin-details.store.ts';
import { type PayinKey, payinsOfKeys } from '../../payins/payin-outcome.store.ts';
import {
  payinsByCus,
  payinsById,
  payinsByReference,
  payinsCreatedWithin,
} from '../../payins/payin-search.store.ts';
import { RAILS } from '../../rails/contract.ts';

/** What a payer or a bank knows of a payment. Everything that is given must hold. */
export interface PayinSearch {
  readonly id?: string | undefined;
  readonly reference?: string | undefined;
  readonly brebKey?: string | undefined;
  readonly cus?: string | undefined;
  /** Our reference at PSE, or the rail's own number of a payment that was booked. */
  readonly transaction?: string | undefined;
  /** In cents: what was asked for or what came. */
  readonly amount?: bigint | undefined;
  readonly created?: { readonly from: Date; readonly to: Date } | undefined;
  readonly organizationId?: string | undefined;
}

/** The clock of the database may have been set back since: an id can carry a time so far from its row's. */
const CLOCK_STEP_MS = 3 * 3_600_000;

/**
 * Payins of any organization, newest first. Each search goes by an index: the id, reference, key, CUS or number of a
 * transaction, or else the span of time.
 */
export async function findPayins(
  deps: Pick<SystemDeps, 'system'>,
  search: PayinSearch,
  limit: number,
): Promise<DetailedPayin[]> {
  return deps.system.transaction('read', async (tx) => {
    const found = await payinDetails(tx, await candidates(tx, search, limit));
    return found.filter((payin) => fits(payin, search)).slice(0, limit);
  });
}

async function candidates(tx: Tx, search: PayinSearch, limit: number): Promise<PayinKey[]> {
  if (search.id !== undefined) return payinsById(tx, search.id);
  if (search.brebKey !== undefined) return [...(await payinsOfKeys(tx, [search.brebKey])).values()];
  if (search.transaction !== undefined) return byTransaction(tx, search.transaction);
  if (search.cus !== undefined) return payinsByCus(tx, search.cus, limit);
  if (search.reference !== undefined) return payinsByReference(tx, search.reference, limit);
  if (search.created === undefined) throw new Error('a search needs an index: a name or a span of time');
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

async function byTransaction(tx: Tx, transaction: string): Promise<PayinKey[]> {
  const named = readResourceReference(transaction);
  if (named) {
    const organizations = await organizationsByNumber(tx, [named.organizationNumber]);
    const organizationId = organizations.get(named.organizationNumber);
    if (organizationId !== undefined) return [{ organizationId, id: named.id }];
  }
  const booked = await resourcesOfCauses(
    tx,
    'payment',
    RAILS.map((rail) => `${rail}:${transaction}`),
  );
  return booked.map(({ organizationId, resourceId }) => ({ organizationId, id: resourceId }));
}

function fits(payin: DetailedPayin, search: PayinSearch): boolean {
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
