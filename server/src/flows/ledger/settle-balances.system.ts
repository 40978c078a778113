import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { SYSTEM } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { cents } from '../../kit/money.ts';
import { post } from '../../ledger/ledger.store.ts';
import { insertSettlements, type Settlement } from '../../ledger/settlement.store.ts';
import type { Transfer } from '../../ledger/transfer.ts';
import {
  lockSettlingPayins,
  postponeSettling,
  queryBeforeSettling,
  relockSettling,
  type SettlingPayin,
  settlePayins,
} from '../../payins/payin-settlement.store.ts';
import { isolateFailures } from '../shared/isolate-failures.ts';

/** Small enough that a batch does not hold balance locks for long, large enough to drain a backlog. */
const BATCH_SIZE = 1000;

type SettleDeps = Pick<SystemDeps, 'system' | 'clock' | 'cell' | 'log'>;

/**
 * Settles one batch of due payins: moves their money to the available balance with one settlement and one transfer per
 * organization. When the settlement of an organization fails, its payins are postponed with an error log, and the other
 * organizations continue.
 * @returns the number of payins in the batch; call again until it is zero
 */
export async function settleBalances(deps: SettleDeps): Promise<number> {
  let payins: readonly SettlingPayin[] = [];
  try {
    await deps.system.transaction('settle', async (tx) => {
      payins = await lockSettlingPayins(tx, BATCH_SIZE);
      await settle(deps, tx, payins);
    });
  } catch (error) {
    if (payins.length === 0) throw error;
    await isolateFailures(
      error,
      Map.groupBy(payins, (payin) => payin.organizationId),
      ([, own]) =>
        deps.system.transaction('settle', async (tx) => settle(deps, tx, await relockSettling(tx, own))),
      ([organizationId, own], itemError) => postpone(deps, organizationId, own, itemError),
    );
  }
  return payins.length;
}

async function postpone(
  deps: SettleDeps,
  organizationId: string,
  payins: readonly SettlingPayin[],
  error: unknown,
): Promise<void> {
  deps.log.error(
    { ...errorFields(error), code: 'settlement_failed', organizationId, count: payins.length },
    'failed to settle the payins of an organization; postponed. Run caudal ledger verify',
  );
  await deps.system.transaction('settle', async (tx) =>
    postponeSettling(tx, await relockSettling(tx, payins)),
  );
}

/** Lock order, as in every transaction: payins before balances. */
async function settle(deps: SettleDeps, tx: Tx, due: readonly SettlingPayin[]): Promise<void> {
  // An earlier version scheduled settlement on a notification alone: query the rail first.
  await queryBeforeSettling(
    tx,
    due.filter((payin) => !payin.verified),
  );
  const payins = due.filter((payin) => payin.verified);
  if (payins.length === 0) return;
  const settlements = groupSettlements(deps, payins);
  await insertSettlements(tx, [...settlements.values()]);
  await settlePayins(
    tx,
    payins.map((payin) => ({ ...payin, settlementId: settlementFor(settlements, payin).id })),
  );
  await post(tx, [...settlements.values()].map(toTransfer));
}

function groupSettlements(
  deps: SettleDeps,
  payins: readonly SettlingPayin[],
): ReadonlyMap<string, Settlement> {
  const settlements = new Map<string, Settlement>();
  for (const [organizationId, own] of Map.groupBy(payins, (payin) => payin.organizationId)) {
    const amount = cents(own.reduce((sum, payin) => sum + payin.amount, 0n));
    const id = uuidv7(deps.clock.now(), deps.cell);
    settlements.set(organizationId, { id, organizationId, amount, payins: own.length });
  }
  return settlements;
}

function settlementFor(settlements: ReadonlyMap<string, Settlement>, payin: SettlingPayin): Settlement {
  const settlement = settlements.get(payin.organizationId);
  if (!settlement) throw new Error(`payin ${payin.id} is in no settlement`);
  return settlement;
}

/** The transfer has the settlement's id: each settlement has exactly one transfer. */
function toTransfer({ id, organizationId, amount }: Settlement): Transfer {
  const cause = { kind: 'settlement', id } as const;
  return {
    id,
    organizationId,
    debit: 'pending',
    credit: 'available',
    amount,
    cause,
    resourceId: id,
    createdBy: SYSTEM,
  };
}
