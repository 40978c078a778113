import type { SystemDeps } from '../deps.ts';
import { createOrganization } from '../flows/manage-organizations.ts';
import { listOrganizations } from '../flows/read-organizations.ts';
import { rewrapDataKeys } from '../flows/rewrap-data-keys.ts';
import { SCOPES } from '../organizations/organization.ts';
import { RAILS } from '../rails/contract.ts';
import type { Options, Output } from './options.ts';

export async function orgCreate(deps: SystemDeps, options: Options): Promise<Output> {
  const details = {
    name: options.required('name'),
    supportContact: options.required('support'),
    accent: options.matching('accent', /^#[0-9a-f]{6}$/, 'a colour such as #0f766e', '#0f766e'),
    rails: options.listed('rails', RAILS),
    city: options.matching('city', /^.{1,60}$/, 'a city of at most 60 letters', 'BOGOTA'),
    postalCode: options.matching('postal-code', /^[0-9A-Z]{1,10}$/, 'a postal code', '110111'),
    merchantCategory: options.matching(
      'category',
      /^\d{4}$/,
      'a merchant category of four digits (ISO 18245)',
      '5999',
    ),
  };
  const key = { name: 'first key', scopes: SCOPES, lifetimeSeconds: null };
  const { id, credential } = await createOrganization(deps, details, key);
  return {
    json: { organizationId: id, keyId: credential.id, apiKey: credential.text },
    text: `Organization ${id} (${details.name})\nAPI key      ${credential.text}\n\nThis key is shown once and stored nowhere. Keep it as you keep a password.`,
  };
}

export async function orgList(deps: SystemDeps): Promise<Output> {
  const organizations = await listOrganizations(deps);
  const lines = organizations.map(
    (each) => `${each.id}  ${[...each.rails].join(',').padEnd(9)}  ${each.name}`,
  );
  return {
    json: organizations.map(({ rails, ...rest }) => ({ ...rest, rails: [...rails] })),
    text: lines.join('\n') || 'There are no organizations yet. Create one: caudal org create',
  };
}

export async function secretsRewrap(deps: SystemDeps): Promise<Output> {
  const rewrapped = await rewrapDataKeys(deps);
  return {
    json: { rewrapped },
    text: `${rewrapped} data keys are now wrapped by the present master key. CAUDAL_MASTER_KEY_PREVIOUS can go once every process has been restarted.`,
  };
}
