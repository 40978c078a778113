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
  const given = readBasic(header);
  if (given === null) return false;
  // Both are compared whatever the first one says, so that the time taken tells nothing.
  const user = sameText(given.user, expected.user);
  const password = sameText(given.password, expected.password);
  return user && password;
}

export function sameText(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b));
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
