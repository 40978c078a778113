import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import type { Shop } from '../../organizations/shops.ts';
import { html } from '../html.ts';
import { paymentFacts } from './confirmed-screen.ts';
import type { Page } from './layout.ts';
import type { Messages } from './messages.ts';

/** The public receipt. Anyone can verify a screenshot of it at this URL, so it shows no data of the payer. */
export function receiptPage(
  messages: Messages,
  shop: Shop,
  attempt: PagePayin,
): Pick<Page, 'title' | 'shop' | 'amount' | 'reference' | 'description' | 'main'> {
  const { payin } = attempt;
  return {
    title: messages.receipt.title,
    shop,
    amount: payin.confirmedAmount ?? payin.amount,
    reference: null,
    description: null,
    main: html`<h1>${messages.receipt.title}</h1>${paymentFacts({ messages, shop }, attempt)}
<p class="support">${messages.receipt.authentic}</p><p><button class="button quiet" type="button" data-print hidden>${messages.receipt.print}</button></p>`,
  };
}
