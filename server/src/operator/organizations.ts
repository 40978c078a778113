import type { SystemDeps } from '../deps.ts';
import { changeLimits, createOrganization } from '../flows/operations/manage-organizations.system.ts';
import { listOrganizations, readOrganizationLimits } from '../flows/operations/read-organizations.system.ts';
import { isUuid } from '../kit/ids.ts';
import { parseTaxId } from '../kit/tax-id.ts';
import { type AmountPolicy, type Limits, SCOPES } from '../organizations/organization.ts';
import { RAILS } from '../rails/contract.ts';
import { type Options, type Output, UsageError } from './options.ts';

export const ACCENT = /^#[0-9a-f]{6}$/;

export async function orgCreate(deps: SystemDeps, options: Options): Promise<Output> {
  const details = {
    name: options.required('name'),
    supportContact: options.required('support'),
    accent: options.matching('accent', ACCENT, 'a color such as #0f766e', '#0f766e'),
    rails: options.listed('rails', RAILS),
    city: options.matching('city', /^.{1,60}$/, 'a city of at most 60 characters', 'BOGOTA'),
    postalCode: options.matching('postal-code', /^[0-9A-Z]{1,10}$/, 'a postal code', '110111'),
    merchantCategory: options.matching(
      'category',
      /^\d{4}$/,
      'a merchant category of four digits (ISO 18245)',
      '5999',
    ),
    amountPolicy: readAmountPolicy(options),
    ...readLegalIdentity(options),
  };
  const apiKey = { name: 'first key', scopes: SCOPES, lifetimeSeconds: null };
  const { id, credential } = await createOrganization(deps, options.by, details, apiKey);
  return {
    json: { organizationId: id, keyId: credential.id, apiKey: credential.text },
    text: `Organization ${id} (${details.name})\nAPI key      ${credential.text}\n\nThis key is shown once and not stored. Keep it like a password.`,
  };
}

/** Legal name and NIT, where given. */
export function readLegalIdentity(options: Options): { legalName?: string; taxId?: string } {
  const legalName = options.matching('legal-name', /^\S.{0,159}$/, 'a text of at most 160 characters', '');
  if (!options.has('tax-id')) return legalName === '' ? {} : { legalName };
  const taxId = parseTaxId(options.required('tax-id'));
  if (taxId === null)
    throw new UsageError('--tax-id must be a NIT with its check digit, such as 900123456-8');
  return { ...(legalName === '' ? {} : { legalName }), taxId };
}

export function readAmountPolicy(options: Options): AmountPolicy {
  const policy = options.matching('amount-policy', /^(?:EXACT|ANY)$/, 'EXACT or ANY', 'EXACT');
  return policy === 'ANY' ? 'ANY' : 'EXACT';
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

/** Shows the limits; with options, sets them. */
export async function orgLimits(deps: SystemDeps, options: Options): Promise<Output> {
  const id = readOrganizationId(options);
  const changes = {
    ...readLimit(options, 'writes', 'writesPerSecond'),
    ...readLimit(options, 'reads', 'readsPerSecond'),
  };
  const limits = options.changes
    ? await changeLimits(deps, options.by, id, changes)
    : await readOrganizationLimits(deps, id);
  if (!limits) throw new Error('there is no such organization (see org list)');
  return {
    json: { organizationId: id, ...limits },
    text: `Writes  ${limitText(limits.writesPerSecond)}\nReads   ${limitText(limits.readsPerSecond)}`,
  };
}

export function readOrganizationId(options: Options): string {
  const [id = ''] = options.args;
  if (!isUuid(id)) throw new UsageError(`"${id}" is not the id of an organization (see org list)`);
  return id;
}

function readLimit(options: Options, option: 'writes' | 'reads', field: keyof Limits): Partial<Limits> {
  const text = options.matching(
    option,
    /^(?:default|\d{1,6}|1000000)$/,
    'a number of requests per second, 0 for no limit, or "default"',
    '',
  );
  return text === '' ? {} : { [field]: text === 'default' ? null : Number(text) };
}

function limitText(perSecond: number | null): string {
  if (perSecond === null) return 'default';
  return perSecond === 0 ? 'no limit' : `${perSecond} per second per API process`;
}
