import { createHmac } from 'node:crypto';

const KEY = /^cdl_(test|live)_([0-9A-HJKMNP-TV-Z]{16})_[0-9A-Za-z]{49}$/;

/** What kind of key a text is, without asking anybody; null for what is none. */
export function environmentOf(apiKey: string): 'test' | 'live' | null {
  return (KEY.exec(apiKey)?.[1] as 'test' | 'live' | undefined) ?? null;
}

/** The part of a key that may be seen: its id, which `keys list` shows too. */
export function maskedKey(apiKey: string): string {
  const [, mode, id] = KEY.exec(apiKey) ?? [];
  return id === undefined ? '(not a key)' : `cdl_${mode}_${id}_…`;
}

/** A secret of its own for `listen`: the same wherever this key is used, and no way back to the key. */
export function listenSecret(apiKey: string): string {
  return `whsec_${createHmac('sha256', apiKey).update('caudal listen').digest('base64')}`;
}
