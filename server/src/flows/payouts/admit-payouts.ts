import type { Tx } from '../../db/tx.ts';
import type { Cents } from '../../kit/money.ts';
import { lockAvailable } from '../../ledger/balance.store.ts';
import type { Organization, OrganizationSecrets } from '../../organizations/organization.ts';
import type { PayoutRefusal } from '../../payouts/payout.columns.ts';
import { addUsage, paidBefore, readLimits, receiverUsage } from '../../payouts/payout-limits.store.ts';
import { LimitCheck, type LimitedPayout } from '../../payouts/payout-limits.ts';
import { receiverIndex } from '../../payouts/receiver.encryption.ts';

interface Candidate {
  readonly organization: Organization;
  readonly secrets: OrganizationSecrets;
  readonly apiKeyId: string;
  readonly brebKey: string;
  readonly amount: Cents;
}

/** How a payout is created: to be sent, immediately or after a hold, or declined. */
export interface Admission {
  readonly refusal: PayoutRefusal | null;
  /** Set for the first payout to a new receiver; null: it is sent immediately. */
  readonly holdSeconds: number | null;
}

/**
 * Decides which payouts the balances cover and the payout limits allow, first come first served. The balances stay locked
 * until the commit, so that concurrent batches cannot exceed a limit together.
 */
export async function admitPayouts<Command extends Candidate>(
  tx: Tx,
  commands: readonly Command[],
): Promise<Map<Command, Admission>> {
  const organizationIds = [...new Set(commands.map(({ organization }) => organization.id))];
  const left = await lockAvailable(tx, organizationIds);
  const apiKeyIds = [...new Set(commands.map(({ apiKeyId }) => apiKeyId))];
  const check = new LimitCheck(await readLimits(tx, organizationIds, apiKeyIds));
  const payouts = new Map(commands.map((command) => [command, toLimitedPayout(command)]));
  const limited = distinctReceivers([...payouts.values()].filter((payout) => check.limitsReceiver(payout)));
  check.addReceivers(await receiverUsage(tx, limited));
  const getHold = await newReceiverHolds(tx, check, [...payouts.values()]);
  const admissions = new Map<Command, Admission>();
  for (const [command, payout] of payouts) {
    const available = left.get(payout.organizationId) ?? 0n;
    const refusal = refuse(available, check, payout);
    admissions.set(command, { refusal, holdSeconds: refusal === null ? getHold(payout) : null });
    if (refusal !== null) continue;
    left.set(payout.organizationId, available - payout.amount);
    check.count(payout);
  }
  await addUsage(tx, check.added());
  return admissions;
}

function refuse(available: bigint, check: LimitCheck, payout: LimitedPayout): PayoutRefusal | null {
  if (available < payout.amount) return 'INSUFFICIENT_FUNDS';
  return check.allows(payout) ? null : 'ORGANIZATION_LIMIT_EXCEEDED';
}

/** Returns a function that gives the hold of a payout: null when its receiver was paid before or no hold is configured. */
async function newReceiverHolds(
  tx: Tx,
  check: LimitCheck,
  payouts: readonly LimitedPayout[],
): Promise<(payout: LimitedPayout) => number | null> {
  const receivers = distinctReceivers(payouts.filter((payout) => check.holdSeconds(payout) !== null));
  const known = await paidBefore(tx, receivers);
  const fresh = new Set(receivers.filter((_, index) => !known[index]).map(receiverName));
  return (payout) => (fresh.has(receiverName(payout)) ? check.holdSeconds(payout) : null);
}

function toLimitedPayout({ organization, secrets, apiKeyId, brebKey, amount }: Candidate): LimitedPayout {
  return {
    organizationId: organization.id,
    apiKeyId,
    receiverIndex: receiverIndex(secrets.hashKey, brebKey),
    amount,
  };
}

function distinctReceivers(payouts: readonly LimitedPayout[]): LimitedPayout[] {
  return [...new Map(payouts.map((payout) => [receiverName(payout), payout])).values()];
}

function receiverName({ organizationId, receiverIndex }: LimitedPayout): string {
  return `${organizationId}/${receiverIndex.toString('hex')}`;
}
