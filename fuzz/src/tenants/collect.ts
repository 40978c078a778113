import type { Operation } from '../document/openapi.ts';
import { type Answer, bodyText, headers } from '../wire/answer.ts';
import type { Tenant } from './tenant.ts';

/** Keeps the values of a response for later requests: ids by path, other members by name, cursors by list. */
export function collectValues(tenant: Tenant, operation: Operation, body: unknown): void {
  visit(tenant, operation, body, '');
}

function visit(tenant: Tenant, operation: Operation, value: unknown, name: string): void {
  if (Array.isArray(value)) {
    for (const each of value.slice(0, 5)) visit(tenant, operation, each, name);
  } else if (typeof value === 'object' && value !== null) {
    for (const [member, each] of Object.entries(value)) {
      if (typeof each === 'string') keep(tenant, operation, name, member, each);
      else visit(tenant, operation, each, member);
    }
  }
}

function keep(tenant: Tenant, operation: Operation, parent: string, member: string, value: string): void {
  const page = /\/checkout(\/(?:l|p)\/[\w-]+)/.exec(value)?.[1];
  if (page !== undefined) return tenant.pages.add(page);
  if (member === 'access_token') return tenant.tokens.add(value);
  if (member === 'reference') return tenant.references.add(value);
  if (member.endsWith('Cursor')) return tenant.pool(`cursor ${operation.id}`).add(value);
  if (member === 'id') {
    const kind = parent === '' || parent === 'data' ? (operation.segments[0] ?? '') : parent;
    return tenant.pool(kind).add(value);
  }
  // The organization's own id is never given away: it is in most responses, and marks them.
  if (/Id$|^keyString$/.test(member) && member !== 'organizationId') tenant.pool(member).add(value);
}

/** Keeps the links, cookies and receipt codes of a checkout page. */
export function collectFromPage(tenant: Tenant, answer: Answer): void {
  for (const cookie of headers(answer, 'set-cookie')) tenant.cookies.add(cookie.split(';', 1)[0] ?? '');
  if (answer.body.length === 0) return;
  const text = bodyText(answer);
  for (const [, path] of text.matchAll(/\/checkout(\/(?:l|p|r)\/[\w-]{30,})/g))
    if (path) tenant.pages.add(path);
  for (const [code] of text.matchAll(
    /\b[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}\b/g,
  ))
    tenant.receiptCodes.add(code);
}
