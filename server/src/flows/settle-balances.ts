import type { SystemDeps } from '../deps.ts';
import { uuidv7 } from '../kit/ids.ts';
import { cents } from '../kit/money.ts';
import { post } from '../ledger/ledger.store.ts';
import { insertSettlements, type Settlement } from '../ledger/settlement.store.ts';
import type { Transfer } from '../ledger/transfer.ts';
import { lockSettlingPayins, type SettlingPayin, settlePayins } from '../payins/payin-settlement.store.ts';

/** Few enough that the balances of a round are not locked for long, many enough that a backlog drains. */
const MOST = 1000;

type SettleDeps = Pick<SystemDeps, 'system' | 'clock' | 'cell'>;

/**
 * One round of settlement: the money of payins that have waited long enough becomes available, by one settlement and one
 * transfer an organization. Payins are locked before balances, as everywhere.
 * @returns how many payins it settled; call again while there are any
 */
export async function settleBalances(deps: SettleDeps): Promise<number> {
  return deps.system.transaction('settle', async (tx) => {
    const payins = await lockSettlingPayins(tx, MOST);
    if (payins.length === 0) return 0;
    const settlements = settlementsOf(deps, payins);
    await insertSettlements(tx, [...settlements.values()]);
    await settlePayins(
      tx,
      payins.map((payin) => ({ ...payin, settlementId: settlementFor(settlements, payin).id })),
    );
    await post(tx, [...settlements.values()].map(transferOf));
    return payins.length;
  });
}

function settlementsOf(deps: SettleDeps, payins: readonly SettlingPayin[]): ReadonlyMap<string, Settlement> {
  const settlements = new Map<string, Settlement>();
  for (const [organizationId, own] of Map.groupBy(payins, (payin) => payin.organizationId)) {
    const amount = cents(own.reduce((sum, payin) => sum + payin.confirmedAmount, 0n));
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
