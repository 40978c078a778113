import { html, type SafeHtml } from '../html.ts';
import type { ReceiptMessages } from './receipt-messages.ts';

/** The form with which a payer asks for the receipt by e-mail. */
export interface EmailForm {
  readonly action: string;
  readonly state: 'empty' | 'sent' | 'invalid' | 'limited';
  /** The typed text, shown again only after a mistake. */
  readonly typed: string;
}

export function emailForm({ email }: ReceiptMessages, { action, state, typed }: EmailForm): SafeHtml {
  if (state === 'sent') return html`<p class="note" role="status">${email.sent}</p>`;
  if (state === 'limited') return html`<p class="note" role="alert">${email.limited}</p>`;
  const isInvalid = state === 'invalid';
  return html`<form method="post" action="${action}" class="email"><div class="field"><label for="receipt-email">${email.label}</label>
<small id="receipt-email-hint">${email.optional}</small>
<input id="receipt-email" name="email" type="email" inputmode="email" autocomplete="email" maxlength="254" required value="${typed}" aria-describedby="receipt-email-hint${isInvalid && ' receipt-email-error'}"${isInvalid && html` aria-invalid="true"`}>
${isInvalid && html`<span class="error" id="receipt-email-error">${email.invalid}</span>`}</div>
<p><button class="button quiet">${email.send}</button></p></form>`;
}
