import { KEY_LETTERS, randomText } from '../random-text.ts';

/** 35 characters, the maximum of the message standard: date, paying participant with its node, random suffix. */
export function newEndToEndId(at: string): string {
  return `${at.slice(0, 10).replaceAll('-', '')}900000002TFY${randomText(KEY_LETTERS, 15)}`;
}
