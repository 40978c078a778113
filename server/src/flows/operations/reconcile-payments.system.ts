import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { postedCauses } from '../../ledger/ledger.store.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import { findPayins } from '../../payins/payin.store.ts';
import { findPayinsByBrebKeys } from '../../payins/payin-outcome.store.ts';
import type { ListedPayment, Rail } from '../../rails/contract.ts';
import { applyPayinUpdates, type PayinUpdate } from '../payins/apply-payin-updates.system.ts';
import { findByReference } from '../shared/rail-update.ts';
import type { Difference } from './restore-difference.ts';

interface PaymentComparison {
  readonly keys: DataKeys;
  /** Changes nothing. */
  readonly dryRun: boolean;
}

/**
 * Compares payments that a rail lists with the ledger, and applies the rail's status of each payin whose payment is missing.
 * A payment for no payin of the database becomes an anomaly, with its money in suspense.
 * @throws when the rail does not report a status: sending stays paused
 */
export async function reconcilePayments(
  deps: SystemDeps,
  rail: Rail,
  payments: readonly ListedPayment[],
  { keys, dryRun }: PaymentComparison,
): Promise<Difference[]> {
  const { missing, known } = await deps.system.transaction('read', (tx) => findMissing(tx, rail, payments));
  if (missing.length === 0) return [];
  const differences = missing.map(
    ({ reference, amount }): Difference => ({
      kind: known.has(reference) ? 'payment_received' : 'unknown_payment',
      rail,
      reference,
      amount,
      resourceId: null,
    }),
  );
  if (dryRun) return differences;
  const references = [...new Set(missing.map(({ reference }) => reference))];
  const { maxStatusBatch } = deps.rails[rail].capabilities;
  for (let first = 0; first < references.length; first += maxStatusBatch) {
    const updates = await queryUpdates(deps, rail, references.slice(first, first + maxStatusBatch));
    await deps.system.transaction('apply statuses', (tx) => applyPayinUpdates(deps, keys, tx, updates));
  }
  return differences;
}

/** The payments that the ledger does not have, and the references of payins that the database has. */
async function findMissing(tx: Tx, rail: Rail, payments: readonly ListedPayment[]) {
  const toCause = ({ executionId }: ListedPayment) => `${rail}:${executionId}`;
  const posted = await postedCauses(tx, 'payment', payments.map(toCause));
  const missing = payments.filter((payment) => !posted.has(toCause(payment)));
  const references = missing.map(({ reference }) => reference);
  if (rail === 'BRE_B')
    return { missing, known: new Set((await findPayinsByBrebKeys(tx, references)).keys()) };
  // A PSE reference names its payin, which need not exist.
  const named = await findByReference(tx, references);
  const existing = new Set((await findPayins(tx, [...named.values()])).map(({ id }) => id));
  return {
    missing,
    known: new Set([...named].filter(([, { id }]) => existing.has(id)).map(([each]) => each)),
  };
}

async function queryUpdates(
  deps: SystemDeps,
  rail: Rail,
  references: readonly string[],
): Promise<PayinUpdate[]> {
  const answers = await deps.rails[rail].queryStatus(references);
  return references.map((reference, index): PayinUpdate => {
    const answer = answers[index];
    if (answer?.kind !== 'yes')
      throw new Error(
        `${rail} did not report the status of ${reference}: sending stays paused; run the command again`,
      );
    return { rail, reference, notification: null, railStatus: answer.value, pastProcessingWindow: false };
  });
}
