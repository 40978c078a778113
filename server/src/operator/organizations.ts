import type { SystemDeps } from '../deps.ts';
import { changeLimits, createOrganization } from '../flows/manage-organizations.ts';
import { listOrganizations } from '../flows/read-organizations.ts';
import { rewrapDataKeys } from '../flows/rewrap-data-keys.ts';
import { isUuid } from '../kit/ids.ts';
import { type Limits, SCOPES } from '../organizations/organization.ts';
import { RAILS } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

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

/** Without options it changes nothing and shows them. */
export async function orgLimits(deps: SystemDeps, options: Options): Promise<Output> {
  const [id = ''] = options.words;
  if (!isUuid(id)) throw new UsageError(`"${id}" is not the id of an organization (org list shows them)`);
  const limits = await changeLimits(deps, id, {
    ...givenLimit(options, 'writes', 'writesPerSecond'),
    ...givenLimit(options, 'reads', 'readsPerSecond'),
  });
  if (!limits) throw new Error('there is no such organization (org list shows them)');
  return {
    json: { organizationId: id, ...limits },
    text: `Writes  ${limitText(limits.writesPerSecond)}\nReads   ${limitText(limits.readsPerSecond)}`,
  };
}

function givenLimit(options: Options, option: 'writes' | 'reads', field: keyof Limits): Partial<Limits> {
  const text = options.matching(
    option,
    /^(?:default|\d{1,6}|1000000)$/,
    'a number of requests a second, 0 for no limit, or "default"',
    '',
  );
  return text === '' ? {} : { [field]: text === 'default' ? null : Number(text) };
}

function limitText(perSecond: number | null): string {
  if (perSecond === null) return "the deployment's";
  return perSecond === 0 ? 'no limit' : `${perSecond} a second in each process`;
}

export async function secretsRewrap(deps: SystemDeps): Promise<Output> {
  const rewrapped = await rewrapDataKeys(deps);
  return {
    json: { rewrapped },
    text: `${rewrapped} data keys are now wrapped by the present master key. CAUDAL_MASTER_KEY_PREVIOUS can go once every process has been restarted.`,
  };
}
