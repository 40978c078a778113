import { reopenReturned } from '../../anomalies/anomaly.store.ts';
import type { RowId } from '../../db/columns.ts';
import type { Tx } from '../../db/tx.ts';
import type { Deps } from '../../deps.ts';
import { recordFinalEvents } from '../../events/event.store.ts';
import type { NewEvent } from '../../events/event.ts';
import type { Actor } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import type { KeyRing } from '../../kit/key-ring.ts';
import { cents } from '../../kit/money.ts';
import { post } from '../../ledger/ledger.store.ts';
import { CLEARING, type Transfer } from '../../ledger/transfer.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { OPERATOR_ORGANIZATION_ID } from '../../organizations/organization.ts';
import { chargeMisses } from '../../payouts/lookup-bucket.store.ts';
import { payoutEventData } from '../../payouts/payout.event.ts';
import type { Transition } from '../../payouts/payout.outcome.ts';
import { lastPollMs } from '../../payouts/payout.polling.ts';
import { type PayoutRow, payoutWithoutCustomer } from '../../payouts/payout.store.ts';
import { releaseUsage } from '../../payouts/payout-limits.store.ts';
import { type TransitionedPayout, transitionPayouts } from '../../payouts/payout-outcome.store.ts';

const EVENT_BY_STATUS = {
  CONFIRMED: 'payout.confirmed',
  DECLINED: 'payout.declined',
  CANCELED: 'payout.canceled',
} as const;

/** These declines tell the merchant about a key in the directory, as a lookup without a match does. */
const MISSES: ReadonlySet<string | null> = new Set([
  'KEY_NOT_FOUND',
  'KEY_SUSPENDED',
  'KEY_INVALID',
  'RECEIVER_MISMATCH',
]);

type IdDeps = Pick<Deps, 'clock' | 'cell'>;

/** The events of final payouts. A return belongs to the operator organization and has no event. */
export function payoutEvents(
  { clock, cell }: IdDeps,
  ended: readonly PayoutRow[],
  getDataKey: (organizationId: string) => KeyRing,
): NewEvent[] {
  return ended
    .filter((row) => row.organization_id !== OPERATOR_ORGANIZATION_ID)
    .map((row) => ({
      id: uuidv7(clock.now(), cell),
      organizationId: row.organization_id,
      event: EVENT_BY_STATUS[row.status as keyof typeof EVENT_BY_STATUS],
      resource: 'payout',
      resourceId: row.id,
      createdAt: row.updated_at,
      data: payoutEventData(payoutWithoutCustomer(row, getDataKey(row.organization_id))),
      traceContext: row.trace_context,
    }));
}

/**
 * Moves locked payouts to their final state, with history and event.
 * @returns the transfers, for `postEnded`
 */
export async function endPayouts(
  deps: IdDeps & Pick<Deps, 'payoutRail'>,
  dataKeys: DataKeys,
  tx: Tx,
  transitions: readonly (RowId & Transition)[],
  createdBy: Actor,
): Promise<Transfer[]> {
  const { maxProcessingMs } = deps.payoutRail.capabilities;
  const ended = await transitionPayouts(tx, transitions, lastPollMs(maxProcessingMs));
  const secrets = await dataKeys.loadInTransaction(tx, new Set(ended.map((row) => row.organization_id)));
  const getDataKey = (organizationId: string) => secrets(organizationId).dataKey;
  await recordFinalEvents(tx, payoutEvents(deps, ended, getDataKey), getDataKey);
  await chargeMisses(
    tx,
    ended
      .filter((row) => MISSES.has(row.error_code) && row.organization_id !== OPERATOR_ORGANIZATION_ID)
      .map((row) => row.organization_id),
  );
  // Money that a failed return did not deliver is still in suspense: reopen its anomaly for the operator.
  await reopenReturned(
    tx,
    ended.filter((row) => row.status !== 'CONFIRMED').map((row) => row.anomaly_id),
  );
  return payoutTransfers(deps, ended, createdBy);
}

/** The transfers of final payouts: out through the rail, or back to the available balance. */
export function payoutTransfers(
  deps: IdDeps,
  ended: readonly TransitionedPayout[],
  createdBy: Actor,
): Transfer[] {
  return ended.flatMap((row) => toTransfer(deps, row, createdBy) ?? []);
}

function toTransfer({ clock, cell }: IdDeps, row: TransitionedPayout, createdBy: Actor): Transfer | null {
  const about = {
    id: uuidv7(clock.now(), cell),
    amount: cents(row.amount_in_cents),
    resourceId: row.id,
    createdBy,
  };
  const sent = { ...about, credit: CLEARING.BRE_B, cause: { kind: 'payout', id: row.id } } as const;
  // The money of a return stays in suspense until it is sent, so there is no hold to release.
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

/**
 * Posts the transfers of ended payouts and gives declined and canceled ones back to the payout limits. Callers do it last,
 * because balance rows are the most contended locks. Usage is written under these locks, hence after the posting.
 */
export async function postEnded(tx: Tx, transfers: readonly Transfer[]): Promise<void> {
  await post(tx, transfers);
  const released = transfers.filter(({ cause }) => cause.kind === 'payout_release');
  await releaseUsage(
    tx,
    released.map(({ organizationId, cause }) => ({ organizationId, id: cause.id })),
  );
}

/** The transfer that holds the money of a payout. */
export function toHoldTransfer(
  { clock, cell }: IdDeps,
  { organizationId, id, amount, createdBy }: RowId & Pick<Transfer, 'amount' | 'createdBy'>,
): Transfer {
  return {
    id: uuidv7(clock.now(), cell),
    organizationId,
    debit: 'available',
    credit: 'held',
    amount,
    cause: { kind: 'payout_hold', id },
    resourceId: id,
    createdBy,
  };
}
