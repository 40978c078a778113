import { type SafeHtml, trustedMarkup } from '../html.ts';

function mark(tone: 'good' | 'bad' | 'wait' | 'calm', shapes: string): SafeHtml {
  return trustedMarkup(`<svg class="mark ${tone}" viewBox="0 0 48 48" aria-hidden="true">${shapes}</svg>`);
}

const CIRCLE = '<circle cx="24" cy="24" r="21"/>';

// One mark per meaning.
/** Paid. */
export const CHECK = mark('good', `${CIRCLE}<path d="m15 25 6 6 12-13"/>`);
/** Declined. */
export const CROSS = mark('bad', `${CIRCLE}<path d="m17 17 14 14m0-14L17 31"/>`);
/** Ended without a payment. */
export const STOPPED = mark('calm', `${CIRCLE}<path d="M15 24h18"/>`);
/** Waiting for a result. */
export const CLOCK = mark('wait', `${CIRCLE}<path d="M24 13v12l8 5"/>`);
/** On the way to the bank. */
export const BANK = mark('calm', '<path d="M6 19 24 7l18 12zM11 19v16m9-16v16m8-16v16m9-16v16M6 41h36"/>');
/** Too late. */
export const EXPIRED = mark(
  'calm',
  '<path d="M13 5h22M13 43h22M16 5v7c0 6 8 7 8 12s-8 6-8 12v7M32 5v7c0 6-8 7-8 12s8 6 8 12v7"/>',
);
/** Money that is held. */
export const SAFE = mark(
  'wait',
  '<rect x="5" y="8" width="38" height="31" rx="4"/><circle cx="24" cy="23.5" r="7"/><path d="M24 16.5V13m0 21v-3.5M17 23.5h-3.5m21 0H31M12 39v4m24-4v4"/>',
);
/** Something does not work. */
export const PROBLEM = mark('wait', '<path d="M24 6 44 41H4zM24 19v11m0 5v.5"/>');
/** Not found. */
export const NOT_FOUND = mark(
  'calm',
  '<circle cx="21" cy="21" r="15"/><path d="m32 32 11 11M17 18a4 4 0 1 1 5.5 3.7c-1 .5-1.5 1.1-1.5 2.3m0 4.5v.5"/>',
);

export const ARROW = trustedMarkup(
  '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="m8 5 5 5-5 5"/></svg>',
);
