import type { SystemDeps } from '../deps.ts';
import { updateOrganization } from '../flows/operations/update-organization.system.ts';
import type { Logo } from '../organizations/logo.ts';
import type { OrganizationChanges } from '../organizations/organization.store.ts';
import { RAILS } from '../rails/contract.ts';
import { readLogo } from './logo-image.ts';
import { type Options, type Output, UsageError } from './options.ts';
import { ACCENT, readAmountPolicy, readLegalIdentity, readOrganizationId } from './organizations.ts';

export async function orgUpdate(deps: SystemDeps, options: Options): Promise<Output> {
  const id = readOrganizationId(options);
  const changes = { ...readChanges(options), ...(await readLogoOption(options)) };
  if (Object.keys(changes).length === 0)
    throw new UsageError(
      'org update needs one of --name, --support, --accent, --rails, --amount-policy, --legal-name, --tax-id, --verified and --logo',
    );
  const organization = await updateOrganization(deps, options.by, id, changes);
  if (!organization) throw new Error('there is no such organization (see org list)');
  const { rails, ...rest } = organization;
  return {
    json: { ...rest, rails: [...rails] },
    text: `Organization ${id} is updated: ${Object.keys(changes).join(', ')}. API processes apply it within a second, checkout pages within ten.`,
  };
}

/** @returns null as the logo for `--logo none`, which removes it */
async function readLogoOption(options: Options): Promise<{ logo?: Logo | null }> {
  if (!options.has('logo')) return {};
  const path = options.required('logo');
  return { logo: path === 'none' ? null : await readLogo(path) };
}

function readChanges(options: Options): OrganizationChanges {
  const text = (name: string, length: number) =>
    options.matching(
      name,
      new RegExp(`^\\S.{0,${length - 1}}$`),
      `a text of at most ${length} characters`,
      '',
    );
  const verified = options.matching('verified', /^(?:yes|no)$/, 'yes or no', '');
  return {
    ...unlessEmpty('name', text('name', 120)),
    ...unlessEmpty('supportContact', text('support', 200)),
    ...unlessEmpty('accent', options.matching('accent', ACCENT, 'a color such as #0f766e', '')),
    ...(options.has('rails') ? { rails: options.listed('rails', RAILS) } : {}),
    ...(options.has('amount-policy') ? { amountPolicy: readAmountPolicy(options) } : {}),
    ...readLegalIdentity(options),
    ...(verified === '' ? {} : { verified: verified === 'yes' }),
  };
}

function unlessEmpty<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return value === '' ? {} : ({ [name]: value } as Record<Name, string>);
}
