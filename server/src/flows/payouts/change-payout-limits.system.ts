import { recordAction } from '../../audit/operator-action.store.ts';
import type { ActionDetails } from '../../audit/operator-action.ts';
import type { Tx } from '../../db/tx.ts';
import type { SystemDeps } from '../../deps.ts';
import { lockAvailable } from '../../ledger/balance.store.ts';
import { listKeys } from '../../organizations/credential.store.ts';
import { lockOrganization, organizationExists } from '../../organizations/organization.store.ts';
import { listPayoutLimits, removePayoutLimits, setPayoutLimits } from '../../payouts/payout-limits.store.ts';
import {
  type LimitScope,
  type LimitsWithUsage,
  NO_LIMITS,
  type PayoutLimits,
} from '../../payouts/payout-limits.ts';

export type { LimitsWithUsage, PayoutLimits };

type LimitDeps = Pick<SystemDeps, 'system'>;

const FIELDS = [
  'dayAmount',
  'dayCount',
  'receiverDayAmount',
  'receiverDayCount',
  'newReceiverHoldSeconds',
] as const satisfies readonly (keyof PayoutLimits)[];

/**
 * The limits of an organization and of its API keys, with today's usage.
 * @returns null when there is no such organization, or the scope names an API key that it does not have
 */
export function readPayoutLimits(deps: LimitDeps, scope: LimitScope): Promise<LimitsWithUsage[] | null> {
  const { organizationId } = scope;
  return deps.system.transaction('read', async (tx) =>
    (await organizationExists(tx, organizationId)) && (await hasKey(tx, scope))
      ? listPayoutLimits(tx, organizationId)
      : null,
  );
}

/**
 * Changes some payout limits and keeps the others. The lock of the balances makes it exact: payouts are either counted
 * here or created under the new limits.
 * @returns all current limits of the organization; null when there is no such organization or API key
 */
export function changePayoutLimits(
  deps: LimitDeps,
  operator: string,
  scope: LimitScope,
  changes: Partial<PayoutLimits>,
): Promise<LimitsWithUsage[] | null> {
  const { organizationId } = scope;
  return deps.system.transaction('manage organizations', async (tx) => {
    if (!(await lockScope(tx, scope))) return null;
    await lockAvailable(tx, [organizationId]);
    const stored = await listPayoutLimits(tx, organizationId);
    const before = stored.find(({ apiKeyId }) => apiKeyId === scope.apiKeyId) ?? NO_LIMITS;
    const limits = { ...before, ...changes };
    if (FIELDS.every((field) => limits[field] === null)) await removePayoutLimits(tx, scope);
    else await setPayoutLimits(tx, scope, limits);
    await recordAction(tx, {
      operator,
      action: 'org.payout-limits',
      organizationId,
      resource: scope.apiKeyId || organizationId,
      details: toDetails(before, limits),
    });
    return listPayoutLimits(tx, organizationId);
  });
}

async function lockScope(tx: Tx, scope: LimitScope): Promise<boolean> {
  return (await lockOrganization(tx, scope.organizationId)) !== null && hasKey(tx, scope);
}

/** Also true for the limits of the whole organization. */
async function hasKey(tx: Tx, { organizationId, apiKeyId }: LimitScope): Promise<boolean> {
  return apiKeyId === '' || (await listKeys(tx, organizationId)).some(({ id }) => id === apiKeyId);
}

/** Every limit with its previous value. Amounts are in cents, as strings, because JSON numbers are not exact. */
function toDetails(before: PayoutLimits, after: PayoutLimits): ActionDetails {
  const details: Record<string, string | number | null> = {};
  for (const field of FIELDS) {
    details[field] = plain(after[field]);
    details[`previous${field[0]?.toUpperCase()}${field.slice(1)}`] = plain(before[field]);
  }
  return details;
}

function plain(value: bigint | number | null): string | number | null {
  return typeof value === 'bigint' ? value.toString() : value;
}
