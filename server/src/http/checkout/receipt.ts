import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import type { Shop } from '../../organizations/shops.ts';
import { html } from '../html.ts';
import type { Page } from './layout.ts';
import type { Words } from './messages.ts';
import { facts } from './screens.ts';

/** For anybody who is shown a picture of one: this address is the proof. Nothing of the payer is on it. */
export function receiptPage(
  words: Words,
  shop: Shop,
  attempt: PagePayin,
): Pick<Page, 'title' | 'shop' | 'amount' | 'reference' | 'description' | 'main'> {
  const { payin } = attempt;
  return {
    title: words.receipt.title,
    shop,
    amount: payin.confirmedAmount ?? payin.amount,
    reference: null,
    description: null,
    main: html`<h1>${words.receipt.title}</h1>${facts({ words, shop }, attempt)}
<p class="support">${words.receipt.authentic}</p><p><button class="button quiet" type="button" data-print hidden>${words.receipt.print}</button></p>`,
  };
}
