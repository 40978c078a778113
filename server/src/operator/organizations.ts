import type { SystemDeps } from '../deps.ts';
import { changeLimits, createOrganization } from '../flows/operations/manage-organizations.ts';
import { limitsOf, listOrganizations } from '../flows/operations/read-organizations.ts';
import { rewrapDataKeys } from '../flows/operations/rewrap-data-keys.ts';
import { updateOrganization } from '../flows/operations/update-organization.ts';
import { isUuid } from '../kit/ids.ts';
import { type AmountPolicy, type Limits, SCOPES } from '../organizations/organization.ts';
import { RAILS } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

const ACCENT = /^#[0-9a-f]{6}$/;

export async function orgCreate(deps: SystemDeps, options: Options): Promise<Output> {
  const details = {
    name: options.required('name'),
    supportContact: options.required('support'),
    accent: options.matching('accent', ACCENT, 'a color such as #0f766e', '#0f766e'),
    rails: options.listed('rails', RAILS),
    city: options.matching('city', /^.{1,60}$/, 'a city of at most 60 letters', 'BOGOTA'),
    postalCode: options.matching('postal-code', /^[0-9A-Z]{1,10}$/, 'a postal code', '110111'),
    merchantCategory: options.matching(
      'category',
      /^\d{4}$/,
      'a merchant category of four digits (ISO 18245)',
      '5999',
    ),
    amountPolicy: amountPolicyOf(options),
  };
  const key = { name: 'first key', scopes: SCOPES, lifetimeSeconds: null };
  const { id, credential } = await createOrganization(deps, options.by, details, key);
  return {
    json: { organizationId: id, keyId: credential.id, apiKey: credential.text },
    text: `Organization ${id} (${details.name})\nAPI key      ${credential.text}\n\nThis key is shown once and stored nowhere. Keep it as you keep a password.`,
  };
}

function amountPolicyOf(options: Options): AmountPolicy {
  const given = options.matching('amount-policy', /^(?:EXACT|ANY)$/, 'EXACT or ANY', 'EXACT');
  return given === 'ANY' ? 'ANY' : 'EXACT';
}

export async function orgList(deps: SystemDeps): Promise<Output> {
  const organizations = await listOrganizations(deps);
  const lines = organizations.map(
    (each) =>
      `${each.id}  ${[...each.rails].join(',').padEnd(9)}  ${each.amountPolicy.padEnd(5)}  ${each.name}`,
  );
  return {
    json: organizations.map(({ rails, ...rest }) => ({ ...rest, rails: [...rails] })),
    text: lines.join('\n') || 'There are no organizations yet. Create one: caudal org create',
  };
}

/** Without options it changes nothing and shows them. */
export async function orgLimits(deps: SystemDeps, options: Options): Promise<Output> {
  const id = organizationIdOf(options);
  const given = {
    ...givenLimit(options, 'writes', 'writesPerSecond'),
    ...givenLimit(options, 'reads', 'readsPerSecond'),
  };
  const limits = options.changes ? await changeLimits(deps, options.by, id, given) : await limitsOf(deps, id);
  if (!limits) throw new Error('there is no such organization (org list shows them)');
  return {
    json: { organizationId: id, ...limits },
    text: `Writes  ${limitText(limits.writesPerSecond)}\nReads   ${limitText(limits.readsPerSecond)}`,
  };
}

export async function orgUpdate(deps: SystemDeps, options: Options): Promise<Output> {
  const id = organizationIdOf(options);
  const text = (name: string, length: number) =>
    options.matching(name, new RegExp(`^\\S.{0,${length - 1}}$`), `a text of at most ${length} letters`, '');
  const changes = {
    ...given('name', text('name', 120)),
    ...given('supportContact', text('support', 200)),
    ...given('accent', options.matching('accent', ACCENT, 'a color such as #0f766e', '')),
    ...(options.has('rails') ? { rails: options.listed('rails', RAILS) } : {}),
    ...(options.has('amount-policy') ? { amountPolicy: amountPolicyOf(options) } : {}),
  };
  if (Object.keys(changes).length === 0)
    throw new UsageError('org update needs one of --name, --support, --accent, --rails and --amount-policy');
  const organization = await updateOrganization(deps, options.by, id, changes);
  if (!organization) throw new Error('there is no such organization (org list shows them)');
  const { rails, ...rest } = organization;
  return {
    json: { ...rest, rails: [...rails] },
    text: `Organization ${id} is updated: ${Object.keys(changes).join(', ')}. API processes know within a second, pages of payers within ten.`,
  };
}

function given<Name extends string>(name: Name, value: string): Partial<Record<Name, string>> {
  return value === '' ? {} : ({ [name]: value } as Record<Name, string>);
}

export function organizationIdOf(options: Options): string {
  const [id = ''] = options.words;
  if (!isUuid(id)) throw new UsageError(`"${id}" is not the id of an organization (org list shows them)`);
  return id;
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

export async function secretsRewrap(deps: SystemDeps, options: Options): Promise<Output> {
  const rewrapped = await rewrapDataKeys(deps, options.by);
  return {
    json: { rewrapped },
    text: `${rewrapped} data keys are now wrapped by the present master key. CAUDAL_MASTER_KEY_PREVIOUS can go once every process has been restarted.`,
  };
}
