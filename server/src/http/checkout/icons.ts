import { trustedMarkup } from '../html.ts';

export const CHECK = trustedMarkup(
  '<svg class="mark good" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="m15 25 6 6 12-13"/></svg>',
);
export const CROSS = trustedMarkup(
  '<svg class="mark bad" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="m17 17 14 14m0-14L17 31"/></svg>',
);
export const CLOCK = trustedMarkup(
  '<svg class="mark wait" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="M24 13v12l8 5"/></svg>',
);
export const ARROW = trustedMarkup(
  '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="m8 5 5 5-5 5"/></svg>',
);
