import { createHash, timingSafeEqual } from 'node:crypto';

type BasicCredentials = { readonly user: string; readonly password: string };

function readBasic(header: string | undefined): BasicCredentials | null {
  const encoded = /^Basic +([A-Za-z0-9+/=]+)$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon === -1 ? null : { user: text.slice(0, colon), password: text.slice(colon + 1) };
}

export function matchesBasic(header: string | undefined, expected: BasicCredentials): boolean {
  const credentials = readBasic(header);
  if (credentials === null) return false;
  // Always compares both, so that the response time reveals nothing.
  const user = equalInConstantTime(credentials.user, expected.user);
  const password = equalInConstantTime(credentials.password, expected.password);
  return user && password;
}

export function equalInConstantTime(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
