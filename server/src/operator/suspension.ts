import type { SystemDeps } from '../deps.ts';
import {
  type OrganizationOverview,
  readOrganization,
} from '../flows/operations/read-organizations.system.ts';
import { resumeOrganization, suspendOrganization } from '../flows/operations/suspend-organization.system.ts';
import { type Options, type Output } from './options.ts';
import { readOrganizationId } from './organizations.ts';

const NO_ORGANIZATION = 'there is no such organization (see org list)';

export async function orgSuspend(deps: SystemDeps, options: Options): Promise<Output> {
  const organizationId = readOrganizationId(options);
  const suspension = await suspendOrganization(deps, organizationId, readDecision(options));
  if (!suspension) throw new Error(NO_ORGANIZATION);
  return {
    json: { organizationId, suspension },
    text: `Organization ${organizationId} is suspended since ${suspension.at.toISOString()}. Its unsent payouts wait from now on; every API process rejects its creations and lookups within a second.
Reads and webhooks continue, open payins can still be paid, and sent payouts continue to their final state. To lift the suspension: caudal org resume`,
  };
}

export async function orgResume(deps: SystemDeps, options: Options): Promise<Output> {
  const organizationId = readOrganizationId(options);
  if (!(await resumeOrganization(deps, organizationId, readDecision(options))))
    throw new Error('the organization does not exist or is not suspended (see org show)');
  return {
    json: { organizationId, suspension: null },
    text: `Organization ${organizationId} is resumed: its waiting payouts are sent, and every API process accepts its requests within a second.`,
  };
}

export async function orgShow(deps: SystemDeps, options: Options): Promise<Output> {
  const found = await readOrganization(deps, readOrganizationId(options));
  if (!found) throw new Error(NO_ORGANIZATION);
  const { organization, limits, suspension, waitingPayouts } = found;
  const { rails, ...rest } = organization;
  return {
    json: { ...rest, rails: [...rails], limits, suspension, waitingPayouts },
    text: [
      `${rest.name}  ${rest.id}`,
      legalText(organization),
      `logo ${rest.logoId ?? 'none'}`,
      `support ${rest.supportContact}, accent ${rest.accent}, rails ${[...rails].join(',') || 'none'}, amount policy ${rest.amountPolicy}`,
      `city ${rest.city}, postal code ${rest.postalCode}, category ${rest.merchantCategory}`,
      suspension
        ? `SUSPENDED since ${suspension.at.toISOString()} by ${suspension.by}: ${suspension.reason}`
        : 'not suspended',
      `${waitingPayouts} payouts wait to be sent`,
    ].join('\n'),
  };
}

function legalText({ legalName, taxId, verifiedAt }: OrganizationOverview['organization']): string {
  const verified = verifiedAt ? `verified ${verifiedAt.toISOString()}` : 'not verified';
  return `legal name ${legalName ?? 'not recorded'}, NIT ${taxId ?? 'not recorded'}, ${verified}`;
}

function readDecision(options: Options): { by: string; reason: string } {
  options.required('reason');
  return {
    by: options.by,
    reason: options.matching('reason', /^.{1,500}$/, 'a text of at most 500 characters', ''),
  };
}
