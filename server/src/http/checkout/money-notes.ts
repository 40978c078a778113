import type { CheckoutState, PagePayin, SuspendedMoney } from '../../flows/payment-links/load-checkout.ts';
import { html, type SafeHtml } from '../html.ts';
import { moneyText } from './format.ts';
import { formatMessage } from './messages.ts';
import type { RenderContext } from './render-context.ts';
import { formatShopMessage } from './shop-contact.ts';

/** The kinds of money that a payer can have sent; other anomalies have no amount. */
const PAYER_KINDS = ['paid_late', 'paid_again', 'overpaid', 'underpaid'] as const;
type PayerMoney = SuspendedMoney & { readonly kind: (typeof PAYER_KINDS)[number] };

/**
 * Money that arrived and is not part of the payment, in order of arrival. Everyone who has the link sees it: a payer who
 * opens the link in another browser must not be invited to pay again.
 */
function suspendedMoney({ attempts }: Pick<CheckoutState, 'attempts'>): PayerMoney[] {
  return attempts
    .toReversed()
    .flatMap(({ suspended }) => suspended)
    .filter((money): money is PayerMoney => PAYER_KINDS.some((kind) => kind === money.kind));
}

/** One note per payment: the amount, what happens with it, and the contact while it is undecided. */
export function moneyNotes(context: RenderContext): SafeHtml[] {
  const { moneyNotes: texts, underpaid } = context.messages;
  return suspendedMoney(context.state).map(
    ({ kind, amount, state }) =>
      html`<p class="note"><strong>${formatMessage(texts[kind], { amount: moneyText(amount) })}.</strong> ${formatShopMessage(context, texts[state])}
${state === 'held' && formatShopMessage(context, underpaid.ask)}</p>`,
  );
}

/** A late or second payment without a decision. */
export function undecidedPayment(attempts: readonly PagePayin[]): PayerMoney | null {
  return (
    suspendedMoney({ attempts }).findLast(
      ({ kind, state }) => state === 'held' && (kind === 'paid_late' || kind === 'paid_again'),
    ) ?? null
  );
}
