import { html } from '../html.ts';
import { PROBLEM } from './icons.ts';
import type { Page } from './layout.ts';
import { formatMessage, type Messages } from './messages.ts';

/** What an error page knows about the payment: nothing was read, and a POST may have started one. */
export type UnreadPayment = 'unread' | 'mayHaveStarted' | 'notStarted';

/**
 * The page after an error. It never says that no money moved, because the payment was not read. A failed GET is
 * repeated automatically: it is how payers look who have just paid.
 */
export function errorPage(
  { broken }: Messages,
  known: UnreadPayment,
  { requestId, url }: { readonly requestId: string; readonly url: string },
): Page {
  const main = html`${PROBLEM}<h1>${broken.title}</h1><p>${broken[known]}</p><p><a class="button" href="${url}">${broken.again}</a></p>
<p class="support">${formatMessage(broken.quote, { code: requestId })}</p>`;
  return { ...plainPage(broken.title, main), refreshSeconds: known === 'unread' ? 5 : null };
}

/** A page without shop, amount and live updates. */
export function plainPage(title: string, main: Page['main']): Page {
  return {
    title,
    main,
    shop: null,
    amount: null,
    reference: null,
    description: null,
    live: null,
    refreshSeconds: null,
  };
}
