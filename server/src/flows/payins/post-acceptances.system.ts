import { postponePosting, resolveAccepted, resolveAcceptedOne } from '../../anomalies/acceptance.store.ts';
import { type Anomaly, anomalyCause } from '../../anomalies/anomaly.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { type Actor, apiKeyActor, SYSTEM } from '../../kit/actor.ts';
import { uuidv7 } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import { cents } from '../../kit/money.ts';
import { post } from '../../ledger/ledger.store.ts';
import type { Transfer } from '../../ledger/transfer.ts';
import { isolateFailures, POSTPONE_MS } from '../shared/isolate-failures.ts';

const BATCH_SIZE = 100;

/**
 * Credits accepted anomalies: moves the money from suspense to available, in the transaction that resolves them. The cause
 * of the transfer is the anomaly, as for an operator's credit, so that merchant and operator cannot both credit it.
 * @returns the number of credited anomalies; call again immediately while it is not zero
 */
export async function postAcceptances(deps: SystemDeps): Promise<number> {
  let accepted: readonly Anomaly[] = [];
  try {
    await deps.system.transaction('post acceptances', async (tx) => {
      accepted = await resolveAccepted(tx, BATCH_SIZE);
      await credit(deps, tx, accepted);
    });
    return accepted.length;
  } catch (error) {
    if (accepted.length === 0) throw error;
    let credited = 0;
    await isolateFailures(
      error,
      accepted,
      (anomaly) =>
        deps.system.transaction('post acceptances', async (tx) => {
          const own = await resolveAcceptedOne(tx, anomaly);
          await credit(deps, tx, own);
          credited += own.length;
        }),
      (anomaly, itemError) => postpone(deps, anomaly, itemError),
    );
    return credited;
  }
}

function credit(deps: SystemDeps, tx: Tx, accepted: readonly Anomaly[]): Promise<void> {
  return post(
    tx,
    accepted.map(
      ({ id, organizationId, amount, reversals, acceptedBy }): Transfer => ({
        id: uuidv7(deps.clock.now(), deps.cell),
        organizationId,
        debit: 'suspense',
        credit: 'available',
        amount: cents(amount ?? 0n),
        cause: anomalyCause({ id, reversals }),
        resourceId: id,
        createdBy: toActor(acceptedBy),
      }),
    ),
  );
}

/** Earlier versions stored the bare id of the API key. */
function toActor(acceptedBy: string | null): Actor {
  if (acceptedBy === null) return SYSTEM;
  return apiKeyActor(acceptedBy.replace(/^key:/, ''));
}

/** The anomaly stays accepted and is retried later: an operator must check the ledger. */
async function postpone(deps: SystemDeps, anomaly: Anomaly, error: unknown): Promise<void> {
  const { organizationId, payinId } = anomaly;
  deps.log.error(
    { ...errorFields(error), code: 'acceptance_posting_failed', organizationId, payinId },
    'failed to credit accepted anomaly; run `caudal ledger verify`',
  );
  await deps.system.transaction('post acceptances', (tx) => postponePosting(tx, anomaly, POSTPONE_MS));
}
