import { recordAction } from '../../audit/operator-action.store.ts';
import type { ActionDetails } from '../../audit/operator-action.ts';
import type { SystemDeps } from '../../deps.ts';
import { setLogo } from '../../organizations/logo.store.ts';
import type { Logo } from '../../organizations/logo.ts';
import {
  announceChange,
  type ListedOrganization,
  lockOrganization,
  type OrganizationChanges,
  updateOrganization as update,
} from '../../organizations/organization.store.ts';

/**
 * Changes some fields and keeps the others. API processes apply them within a second, payer pages within ten.
 * @returns the updated organization, or null when there is no such organization
 */
export async function updateOrganization(
  deps: Pick<SystemDeps, 'system'>,
  operator: string,
  organizationId: string,
  { logo, ...changes }: OrganizationChanges & { readonly logo?: Logo | null },
): Promise<ListedOrganization | null> {
  return deps.system.transaction('manage organizations', async (tx) => {
    const before = await lockOrganization(tx, organizationId);
    if (!before) return null;
    if (changes.verified && !((changes.legalName ?? before.legalName) && (changes.taxId ?? before.taxId)))
      throw new Error('only a recorded legal name and NIT can be verified (--legal-name, --tax-id)');
    if (logo !== undefined) await setLogo(tx, organizationId, logo);
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

const FIELDS = [
  'name',
  'accent',
  'supportContact',
  'rails',
  'amountPolicy',
  'legalName',
  'taxId',
  'verifiedAt',
  'logoId',
] as const;

/** Each changed field with its previous value. */
function differences(before: ListedOrganization, after: ListedOrganization): ActionDetails {
  const details: Record<string, string | null | readonly string[]> = {};
  for (const field of FIELDS) {
    const [previous, current] = [plain(before[field]), plain(after[field])];
    if (String(previous) === String(current)) continue;
    details[field] = current;
    details[`previous${field[0]?.toUpperCase()}${field.slice(1)}`] = previous;
  }
  return details;
}

function plain(value: string | Date | ReadonlySet<string> | null): string | null | readonly string[] {
  if (value === null || typeof value === 'string') return value;
  return value instanceof Date ? value.toISOString() : [...value];
}
