import type { Environment } from '../kit/environment.ts';

const CONTROL_OR_SPACE = /[\p{Cc}\s]/u;

/**
 * Where a payer is sent back to: parsed once by the WHATWG rules and kept in its serialized form, so that what was
 * checked is what is used. Null when it is not an address we send people to.
 */
export function parseCallbackUrl(value: string, environment: Environment): string | null {
  if (value.length > 2048 || CONTROL_OR_SPACE.test(value) || !value.isWellFormed() || !URL.canParse(value))
    return null;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') return null;
  const secure = url.protocol === 'https:';
  const local = environment !== 'production' && url.protocol === 'http:' && isLoopback(url.hostname);
  return (secure || local) && url.href.length <= 2048 ? url.href : null;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
