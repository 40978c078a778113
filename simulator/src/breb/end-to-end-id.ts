import { KEY_LETTERS, randomText } from '../random-text.ts';

/** 35 characters as the message standard allows: the day, the paying participant and its node, and a number. */
export function newEndToEndId(at: string): string {
  return `${at.slice(0, 10).replaceAll('-', '')}900000002TFY${randomText(KEY_LETTERS, 15)}`;
}
