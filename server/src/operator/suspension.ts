import type { SystemDeps } from '../deps.ts';
import { readOrganization } from '../flows/operations/read-organizations.ts';
import { resumeOrganization, suspendOrganization } from '../flows/operations/suspend-organization.ts';
import { type Options, type Output } from './options.ts';
import { organizationIdOf } from './organizations.ts';

const NO_ORGANIZATION = 'there is no such organization (org list shows them)';

export async function orgSuspend(deps: SystemDeps, options: Options): Promise<Output> {
  const organizationId = organizationIdOf(options);
  const suspension = await suspendOrganization(deps, organizationId, decisionOf(options));
  if (!suspension) throw new Error(NO_ORGANIZATION);
  return {
    json: { organizationId, suspension },
    text: `Organization ${organizationId} is suspended since ${suspension.at.toISOString()}. Its payouts that were not sent wait from now on; creations and lookups are refused by every API process within a second.
Reads and webhooks go on, open payins can still be paid, and what was sent is followed to its end. To end it: caudal org resume`,
  };
}

export async function orgResume(deps: SystemDeps, options: Options): Promise<Output> {
  const organizationId = organizationIdOf(options);
  if (!(await resumeOrganization(deps, organizationId, decisionOf(options))))
    throw new Error('the organization does not exist or is not suspended (org show tells)');
  return {
    json: { organizationId, suspension: null },
    text: `Organization ${organizationId} is resumed: its payouts that waited are sent, and every API process takes its requests within a second.`,
  };
}

export async function orgShow(deps: SystemDeps, options: Options): Promise<Output> {
  const found = await readOrganization(deps, organizationIdOf(options));
  if (!found) throw new Error(NO_ORGANIZATION);
  const { organization, limits, suspension, waitingPayouts } = found;
  const { rails, ...rest } = organization;
  return {
    json: { ...rest, rails: [...rails], limits, suspension, waitingPayouts },
    text: [
      `${rest.name}  ${rest.id}`,
      `support ${rest.supportContact}, accent ${rest.accent}, rails ${[...rails].join(',') || 'none'}, amount policy ${rest.amountPolicy}`,
      `city ${rest.city}, postal code ${rest.postalCode}, category ${rest.merchantCategory}`,
      suspension
        ? `SUSPENDED since ${suspension.at.toISOString()} by ${suspension.by}: ${suspension.reason}`
        : 'not suspended',
      `${waitingPayouts} payouts wait to be sent`,
    ].join('\n'),
  };
}

function decisionOf(options: Options): { by: string; reason: string } {
  options.required('reason');
  return {
    by: options.by,
    reason: options.matching('reason', /^.{1,500}$/, 'a text of at most 500 letters', ''),
  };
}
