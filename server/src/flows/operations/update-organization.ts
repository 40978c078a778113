import { recordAction } from '../../audit/operator-action.store.ts';
import type { ActionDetails } from '../../audit/operator-action.ts';
import type { SystemDeps } from '../../deps.ts';
import {
  announceChange,
  type ListedOrganization,
  lockOrganization,
  type OrganizationChanges,
  updateOrganization as update,
} from '../../organizations/organization.store.ts';

/**
 * Changes what is given and leaves the rest. API processes know within a second, pages of payers within ten.
 * @returns the organization as it is now, or null when there is no such organization
 */
export async function updateOrganization(
  deps: Pick<SystemDeps, 'system'>,
  operator: string,
  organizationId: string,
  changes: OrganizationChanges,
): Promise<ListedOrganization | null> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const before = await lockOrganization(tx, organizationId);
    if (!before) return null;
    const after = await update(tx, organizationId, changes);
    await announceChange(tx, organizationId);
    await recordAction(tx, {
      operator,
      action: 'org.update',
      organizationId,
      resource: organizationId,
      details: differences(before, after),
    });
    return after;
  });
}

const FIELDS = ['name', 'accent', 'supportContact', 'rails', 'amountPolicy'] as const;

/** Each field that changed, with its value before. */
function differences(before: ListedOrganization, after: ListedOrganization): ActionDetails {
  const details: Record<string, string | readonly string[]> = {};
  for (const field of FIELDS) {
    const [old, present] = [plain(before[field]), plain(after[field])];
    if (String(old) === String(present)) continue;
    details[field] = present;
    details[`previous${field[0]?.toUpperCase()}${field.slice(1)}`] = old;
  }
  return details;
}

function plain(value: string | ReadonlySet<string>): string | readonly string[] {
  return typeof value === 'string' ? value : [...value];
}
