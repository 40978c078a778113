import { reopenReturned } from '../../anomalies/anomaly.store.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps, SystemDeps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import type { NewEvent } from '../../events/event.ts';
import type { SecretKey } from '../../kit/crypto.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { cents } from '../../kit/money.ts';
import { CLEARING, type Transfer } from '../../ledger/transfer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { payoutEventData } from '../../payouts/payout.event.ts';
import type { Transition } from '../../payouts/payout.outcome.ts';
import { lastPollMs } from '../../payouts/payout.polling.ts';
import { type PayoutKey, type PayoutRow, payoutWithoutCustomer } from '../../payouts/payout.store.ts';
import { type MovedPayout, movePayouts } from '../../payouts/payout-outcome.store.ts';

const EVENT_OF = {
  CONFIRMED: 'payout.confirmed',
  DECLINED: 'payout.declined',
  CANCELED: 'payout.canceled',
} as const;

type Ids = Pick<Deps, 'clock' | 'cell'>;

/** The events of payouts that have ended. A return is the house's own, and nobody is to be told of it. */
export function payoutEvents(
  { clock, cell }: Ids,
  ended: readonly PayoutRow[],
  dataKeyOf: (organizationId: string) => SecretKey,
): NewEvent[] {
  return ended
    .filter((row) => row.organization_id !== OPERATOR_ORGANIZATION_ID)
    .map((row) => ({
      id: uuidv7(clock.now(), cell),
      organizationId: row.organization_id,
      event: EVENT_OF[row.status as keyof typeof EVENT_OF],
      resource: 'payout',
      resourceId: row.id,
      createdAt: row.updated_at,
      data: payoutEventData(payoutWithoutCustomer(row, dataKeyOf(row.organization_id))),
    }));
}

/**
 * Brings locked payouts to their final state, with history and event.
 * @returns the transfers that belong to it, for the caller to post last: a balance is the one row that everybody needs
 */
export async function endPayouts(
  deps: Ids & Pick<SystemDeps, 'payoutRail'>,
  keys: DataKeys,
  tx: Tx,
  moves: readonly (PayoutKey & Transition)[],
): Promise<Transfer[]> {
  const { maxProcessingMs } = deps.payoutRail.capabilities;
  const moved = await movePayouts(tx, moves, lastPollMs(maxProcessingMs));
  const secrets = await keys.within(tx, new Set(moved.map((row) => row.organization_id)));
  const dataKeyOf = (organizationId: string) => secrets(organizationId).dataKey;
  await recordFinalEvents(tx, payoutEvents(deps, moved, dataKeyOf), dataKeyOf);
  // Money that could not be given back waits in suspense as before, and the operator decides anew.
  await reopenReturned(
    tx,
    moved.filter((row) => row.status !== 'CONFIRMED').map((row) => row.anomaly_id),
  );
  return payoutTransfers(deps, moved);
}

/** Where the money of payouts goes as they end: out through the rail, or back to whoever it was set aside for. */
export function payoutTransfers(deps: Ids, ended: readonly MovedPayout[]): Transfer[] {
  return ended.flatMap((row) => transferOf(deps, row) ?? []);
}

function transferOf({ clock, cell }: Ids, row: MovedPayout): Transfer | null {
  const about = { id: uuidv7(clock.now(), cell), amount: cents(row.amount_in_cents), resourceId: row.id };
  const sent = { ...about, credit: CLEARING.BRE_B, cause: { kind: 'payout', id: row.id } } as const;
  // What a return gives back never left suspense before, so there is nothing to release.
  if (row.anomaly_organization_id !== null)
    return row.status === 'CONFIRMED'
      ? { ...sent, organizationId: row.anomaly_organization_id, debit: 'suspense' }
      : null;
  const { organization_id: organizationId } = row;
  if (row.status === 'CONFIRMED') return { ...sent, organizationId, debit: 'held' };
  return {
    ...about,
    organizationId,
    debit: 'held',
    credit: 'available',
    cause: { kind: 'payout_release', id: row.id },
  };
}

/** Sets the money of a payout aside. */
export function holdOf(
  { clock, cell }: Ids,
  { organizationId, id, amount }: { organizationId: string; id: string; amount: Transfer['amount'] },
): Transfer {
  return {
    id: uuidv7(clock.now(), cell),
    organizationId,
    debit: 'available',
    credit: 'held',
    amount,
    cause: { kind: 'payout_hold', id },
    resourceId: id,
  };
}
