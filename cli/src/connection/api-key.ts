import { createHmac } from 'node:crypto';

const API_KEY_PATTERN = /^cdl_(test|live)_([0-9A-HJKMNP-TV-Z]{16})_[0-9A-Za-z]{49}$/;

/** The mode in the key's prefix; null when the text is not an API key. */
export function apiKeyMode(apiKey: string): 'test' | 'live' | null {
  return (API_KEY_PATTERN.exec(apiKey)?.[1] as 'test' | 'live' | undefined) ?? null;
}

/** The public part of an API key: its id, as in `keys list`. */
export function maskApiKey(apiKey: string): string {
  const [, mode, id] = API_KEY_PATTERN.exec(apiKey) ?? [];
  return id === undefined ? '(not an API key)' : `cdl_${mode}_${id}_…`;
}

/** Signing secret for `listen`, derived one-way from the API key, so that it is the same on every machine. */
export function listenSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('caudal listen').digest('base64')}`;
}
