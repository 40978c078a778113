import { postponeBooking, resolveAccepted, resolveAcceptedOne } from '../anomalies/acceptance.store.ts';
import { type Anomaly, anomalyCause } from '../anomalies/anomaly.ts';
import type { Tx } from '../db/tx.ts';
import type { SystemDeps } from '../deps.ts';
import { uuidv7 } from '../kit/ids.ts';
import { errorFields } from '../kit/log.ts';
import { cents } from '../kit/money.ts';
import { post } from '../ledger/ledger.store.ts';
import type { Transfer } from '../ledger/transfer.ts';
import { oneByOne, PUT_OFF_MS } from './one-by-one.ts';

const BATCH = 100;

/**
 * Credits anomalies that merchants have accepted: from suspense to available, in the transaction that resolves them. The
 * cause of the transfer is the anomaly, as for an operator's credit, so that it is credited once whoever decides.
 * @returns how many were credited; call again at once while there are any
 */
export async function bookAcceptances(deps: SystemDeps): Promise<number> {
  let accepted: readonly Anomaly[] = [];
  try {
    await deps.system.transaction('book acceptances', async (tx) => {
      accepted = await resolveAccepted(tx, BATCH);
      await credit(deps, tx, accepted);
    });
    return accepted.length;
  } catch (error) {
    if (accepted.length === 0) throw error;
    let credited = 0;
    await oneByOne(
      error,
      accepted,
      (anomaly) =>
        deps.system.transaction('book acceptances', async (tx) => {
          const own = await resolveAcceptedOne(tx, anomaly);
          await credit(deps, tx, own);
          credited += own.length;
        }),
      (anomaly, alone) => postpone(deps, anomaly, alone),
    );
    return credited;
  }
}

function credit(deps: SystemDeps, tx: Tx, accepted: readonly Anomaly[]): Promise<void> {
  return post(
    tx,
    accepted.map(
      ({ id, organizationId, amount, reversals }): Transfer => ({
        id: uuidv7(deps.clock.now(), deps.cell),
        organizationId,
        debit: 'suspense',
        credit: 'available',
        amount: cents(amount ?? 0n),
        cause: anomalyCause({ id, reversals }),
        resourceId: id,
      }),
    ),
  );
}

/** It stays accepted and is tried again later: the books need an operator. */
async function postpone(deps: SystemDeps, anomaly: Anomaly, error: unknown): Promise<void> {
  const { organizationId, payinId } = anomaly;
  deps.log.error(
    { ...errorFields(error), code: 'acceptance_booking_failed', organizationId, payinId },
    'failed to credit an accepted anomaly: run caudal ledger verify',
  );
  await deps.system.transaction('book acceptances', (tx) => postponeBooking(tx, anomaly, PUT_OFF_MS));
}
