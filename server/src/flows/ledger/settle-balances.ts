import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
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

/** Few enough that the balances of a round are not locked for long, many enough that a backlog drains. */
const MOST = 1000;

type SettleDeps = Pick<SystemDeps, 'system' | 'clock' | 'cell' | 'log'>;

/**
 * One round of settlement: the money of payins that have waited long enough becomes available, by one settlement and one
 * transfer an organization. An organization whose books do not bear it does not hold up the others: its payins are put
 * off, loudly.
 * @returns how many payins it took up; call again while there are any
 */
export async function settleBalances(deps: SettleDeps): Promise<number> {
  let payins: readonly SettlingPayin[] = [];
  try {
    await deps.system.transaction('settle', async (tx) => {
      payins = await lockSettlingPayins(tx, MOST);
      await settle(deps, tx, payins);
    });
  } catch (error) {
    if (payins.length === 0) throw error;
    await isolateFailures(
      error,
      Map.groupBy(payins, (payin) => payin.organizationId),
      ([, own]) =>
        deps.system.transaction('settle', async (tx) => settle(deps, tx, await relockSettling(tx, own))),
      ([organizationId, own], alone) => postpone(deps, organizationId, own, alone),
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
    { ...errorFields(error), organizationId, count: payins.length },
    'THE BOOKS OF AN ORGANIZATION DO NOT BEAR ITS SETTLEMENT: run caudal ledger verify',
  );
  await deps.system.transaction('settle', async (tx) =>
    postponeSettling(tx, await relockSettling(tx, payins)),
  );
}

/** Payins are locked before balances, as everywhere. */
async function settle(deps: SettleDeps, tx: Tx, due: readonly SettlingPayin[]): Promise<void> {
  // An earlier version gave them a time to settle on a notification alone.
  await queryBeforeSettling(
    tx,
    due.filter((payin) => !payin.verified),
  );
  const payins = due.filter((payin) => payin.verified);
  if (payins.length === 0) return;
  const settlements = settlementsOf(deps, payins);
  await insertSettlements(tx, [...settlements.values()]);
  await settlePayins(
    tx,
    payins.map((payin) => ({ ...payin, settlementId: settlementFor(settlements, payin).id })),
  );
  await post(tx, [...settlements.values()].map(transferOf));
}

function settlementsOf(deps: SettleDeps, payins: readonly SettlingPayin[]): ReadonlyMap<string, Settlement> {
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

/** The settlement's id is also its transfer's: one is nothing without the other. */
function transferOf({ id, organizationId, amount }: Settlement): Transfer {
  const cause = { kind: 'settlement', id } as const;
  return { id, organizationId, debit: 'pending', credit: 'available', amount, cause, resourceId: id };
}
