import type { SystemDeps } from '../../deps.ts';
import { DataKeys } from '../../organizations/data-keys.ts';
import { allowSending, type GuardState, readSendingGuard } from '../../organizations/sending-guard.store.ts';
import { failureCause, type ListSince, RAILS, type Rail } from '../../rails/contract.ts';
import { type Verification, verifyLedger } from '../ledger/verify-ledger.system.ts';
import { reconcileOrders } from './reconcile-orders.system.ts';
import { reconcilePayments } from './reconcile-payments.system.ts';
import type { Difference } from './restore-difference.ts';

/** The rail's clock and ours may differ, and an order is listed under the time at which the rail received it. */
const MARGIN_MS = 15 * 60_000;

export interface Reconciliation {
  readonly guard: GuardState;
  readonly compared: { readonly orders: number; readonly payments: number };
  readonly differences: readonly Difference[];
  /** Null in a dry run. */
  readonly verification: Verification | null;
  readonly resumed: boolean;
}

interface ReconcileOptions {
  /** The time to which the database was restored. */
  readonly since: Date;
  readonly dryRun: boolean;
}

/**
 * Compares the database with what the rails did since the time it was restored to, books or lists each difference, verifies the
 * whole ledger and only then allows sending. Each page commits on its own, and repeating it changes nothing.
 * @throws when a rail does not list: sending stays paused
 */
export async function reconcileAfterRestore(
  deps: SystemDeps,
  { since, dryRun }: ReconcileOptions,
): Promise<Reconciliation> {
  const guard = await readSendingGuard(deps.system);
  const keys = new DataKeys(deps.system, deps.masterKeys);
  const from = new Date(since.getTime() - MARGIN_MS);
  const differences: Difference[] = [];
  const compared = { orders: 0, payments: 0 };
  for await (const orders of listAll('BRE_B', 'orders', deps.payoutRail.listOrders, from)) {
    compared.orders += orders.length;
    differences.push(...(await reconcileOrders(deps, orders, { keys, restoredTo: since, dryRun })));
  }
  for (const rail of RAILS)
    for await (const payments of listAll(rail, 'payments', deps.rails[rail].listPayments, from)) {
      compared.payments += payments.length;
      differences.push(...(await reconcilePayments(deps, rail, payments, { keys, dryRun })));
    }
  if (dryRun) return { guard, compared, differences, verification: null, resumed: false };
  const verification = await verifyLedger(deps);
  const resumed = verification.broken.length === 0;
  if (resumed) await deps.system.transaction('pause rail', allowSending);
  return { guard, compared, differences, verification, resumed };
}

async function* listAll<Item>(
  rail: Rail,
  what: string,
  list: ListSince<Item> | null,
  since: Date,
): AsyncGenerator<readonly Item[]> {
  if (list === null) throw new Error(`the connector of ${rail} cannot list ${what}: sending stays paused`);
  let cursor: string | null = null;
  do {
    const answer = await list(since, cursor);
    if (answer.kind !== 'yes')
      throw new Error(
        `${rail} did not list its ${what} (${failureCause(answer)}): sending stays paused; run the command again`,
      );
    yield answer.value.items;
    cursor = answer.value.next;
  } while (cursor !== null);
}
