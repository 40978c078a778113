import type { Tenant, TenantName } from '../tenants/tenant.ts';
import type { Context } from './context.ts';
import { hostileText } from './hostile.ts';
import type { FuzzRequest } from './request.ts';

type Headers = FuzzRequest['headers'];

export interface Credentials {
  readonly headers: Headers;
  /** The organization that they identify. */
  readonly tenant: FuzzRequest['tenant'];
}

/** Mostly the own API key or an access token; sometimes none, a broken one, or two. */
export function merchantCredentials(context: Context): Credentials {
  const { random, tenant } = context;
  if (random.chance(0.93)) return { headers: [ownCredential(context, tenant)], tenant: tenant.name };
  return brokenCredentials(context);
}

function ownCredential({ random }: Context, tenant: Tenant): readonly [string, string] {
  const token = random.chance(0.45) ? tenant.tokens.pick(random) : null;
  return token === null ? ['x-api-key', tenant.apiKey] : ['authorization', `Bearer ${token}`];
}

function brokenCredentials(context: Context): Credentials {
  const { random, tenant, other } = context;
  const token = tenant.tokens.pick(random) ?? 'cdl_test_at_x';
  const none = (...headers: [string, string][]): Credentials => ({ headers, tenant: null });
  switch (random.integer(0, 9)) {
    case 0:
      return none();
    case 1:
      return none(['x-api-key', printable(hostileText(random))]);
    case 2:
      return none(['x-api-key', changeOne(context, tenant.apiKey)]);
    case 3:
      return none(['authorization', `Bearer ${changeOne(context, token)}`]);
    case 4:
      return none(['authorization', `Bearer ${tenant.apiKey}`]);
    case 5:
      return none(['x-api-key', token]);
    case 6:
      return none(['authorization', `Basic ${basic(tenant.keyId, tenant.apiKey)}`]);
    case 7:
      // Two credentials of different organizations: whatever the server does, it must not mix them.
      return { headers: [['x-api-key', tenant.apiKey], ownBearer(other, context)], tenant: 'any' };
    case 8:
      return {
        headers: [
          ['x-api-key', tenant.apiKey],
          ['x-api-key', other.apiKey],
        ],
        tenant: 'any',
      };
    default:
      return { headers: [ownBearer(tenant, context), ownBearer(other, context)], tenant: 'any' };
  }
}

function ownBearer(tenant: Tenant, { random }: Context): [string, string] {
  return ['authorization', `Bearer ${tenant.tokens.pick(random) ?? tenant.apiKey}`];
}

/** HTTP Basic for the token endpoint; `form` is added to its body. */
export function clientCredentials(
  context: Context,
): Credentials & { readonly form: Readonly<Record<string, string>> } {
  const { random, tenant, other } = context;
  const { name } = tenant;
  const form = (id: string, secret: string, owner: TenantName | null) => ({
    headers: [],
    tenant: owner,
    form: { client_id: id, client_secret: secret },
  });
  switch (random.integer(0, 9)) {
    case 0:
      return form(other.keyId, tenant.apiKey, null);
    case 1:
      return form(tenant.keyId, changeOne(context, tenant.apiKey), null);
    case 2:
      return { headers: [['authorization', `Basic ${hostileBase64(context)}`]], tenant: null, form: {} };
    case 3:
    case 4:
      return form(tenant.keyId, tenant.apiKey, name);
    default:
      return {
        headers: [['authorization', `Basic ${basic(tenant.keyId, tenant.apiKey)}`]],
        tenant: name,
        form: {},
      };
  }
}

function basic(user: string, password: string): string {
  return Buffer.from(`${user}:${password}`).toString('base64');
}

function hostileBase64({ random }: Context): string {
  return Buffer.from(`${hostileText(random)}:${hostileText(random)}`)
    .toString('base64')
    .slice(0, 4000);
}

/** Another character at one position. */
function changeOne({ random }: Context, text: string): string {
  const at = random.integer(9, text.length - 1);
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}

/** A header value cannot contain line breaks or NUL; raw requests send those. */
export function printable(text: string): string {
  return text.replace(/[\r\n]/g, '?').replaceAll('\u0000', '?');
}
