import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { html, type SafeHtml } from '../html.ts';
import { bogotaTime, moneyText } from './format.ts';
import { BANK, CLOCK, CROSS, EXPIRED, SAFE, STOPPED } from './icons.ts';
import { formatMessage } from './messages.ts';
import { moneyNotes, undecidedPayment } from './money-notes.ts';
import { bankName, type RenderContext } from './render-context.ts';
import { otherMethods } from './screen.ts';
import { back, formatShopMessage } from './shop-contact.ts';

/** A waiting page offers another way to pay after this time. */
const ALTERNATIVE_AFTER_SECONDS = 10;

export function openingScreen(context: RenderContext, { payin }: PagePayin): SafeHtml {
  const { messages, state } = context;
  const secondsLeft = ALTERNATIVE_AFTER_SECONDS - (state.now.getTime() - payin.createdAt.getTime()) / 1000;
  const button = brebButton(context, messages.payWithBreb);
  return html`${BANK}<h1>${messages.opening.title}</h1><p>${messages.opening.about}</p>
${button && html`<div data-after="${Math.max(0, Math.ceil(secondsLeft))}"${secondsLeft > 0 && html` hidden`}><p>${messages.opening.slow}</p>${button}</div>`}`;
}

export function toBankScreen({ messages, path }: RenderContext, { payin }: PagePayin): SafeHtml {
  const { bank, page } = bankPage({ payin });
  return html`${BANK}<h1>${formatMessage(messages.toBank.title, { bank })}</h1><p>${messages.toBank.about}</p>
<p><a class="button" href="${page.url}" data-go rel="noreferrer">${formatMessage(messages.toBank.go, { bank })}</a></p>
<p><a class="link" href="${path}">${messages.toBank.returned}</a></p>`;
}

/** The payer is back from the bank, and the rail has no outcome: only the payer knows whether they authorized the payment. */
export function bankQuestionScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages, path } = context;
  const { bank, page } = bankPage(attempt);
  return html`${BANK}<h1>${formatMessage(messages.bankQuestion.title, { bank })}</h1><p>${messages.bankQuestion.about}</p>
<p><a class="button" href="${path}?paid=1">${messages.bankQuestion.yes}</a></p>
<p><a class="button quiet" href="${page.url}" rel="noreferrer">${messages.bankQuestion.back}</a></p>
${brebButton(context, messages.payWithBrebInstead)}`;
}

export function pendingScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages, path } = context;
  const { payin } = attempt;
  const { cus } = bankPage(attempt).page;
  return html`${CLOCK}<h1>${messages.pending.title}</h1><p>${messages.pending.about}</p>
<dl>${cus !== null && html`<dt>${messages.cus}</dt><dd>${cus}</dd>`}<dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.createdAt, messages.language)}</dd></dl>
<p><a class="link" href="${path}">${messages.pending.notPaid}</a></p>`;
}

/** Another browser is at the bank. Its bank page has the payer's data, so this browser does not get its URL. */
export function otherPayerScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages } = context;
  const { bank } = bankPage(attempt);
  return html`${CLOCK}<h1>${messages.otherPayer.title}</h1><p>${formatMessage(messages.otherPayer.about, { bank })}</p>
${brebButton(context, messages.payWithBreb)}`;
}

export function closingScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages, path, state } = context;
  const others = otherMethods(state, attempt.payin.source.rail);
  return html`${CLOCK}<h1>${messages.closing.title}</h1><p>${messages.closing.about}</p>
${others.includes('BRE_B') && brebButton(context, messages.payWithBreb)}
${others.includes('PSE') && html`<p><a class="button quiet" href="${path}?m=PSE">${messages.payWithPse}</a></p>`}`;
}

function bankPage({ payin }: Pick<PagePayin, 'payin'>) {
  if (payin.source.rail !== 'PSE' || payin.source.page === null)
    throw new Error('payin has no bank page URL');
  return { bank: bankName(payin.source.bank), page: payin.source.page };
}

/** Starts a Bre-B attempt beside a PSE attempt that the payer did not finish. */
function brebButton({ state, path }: RenderContext, label: string): SafeHtml | null {
  if (!otherMethods(state, 'PSE').includes('BRE_B')) return null;
  return html`<p><a class="button quiet" href="${path}?m=BRE_B">${label}</a></p>`;
}

export function underpaidScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages, path, state } = context;
  const { payin } = attempt;
  const canContinue =
    state.link !== null && state.link.status === 'PENDING' && state.link.closesAt > state.now;
  const [paid, amount] = state.link
    ? [state.link.paid, state.link.amount]
    : [payin.confirmedAmount ?? 0n, payin.amount];
  const values = { paid: moneyText(paid), amount: moneyText(amount), missing: moneyText(amount - paid) };
  return html`${SAFE}<h1>${formatMessage(messages.underpaid.title, values)}</h1>
<p>${canContinue ? formatMessage(messages.underpaid.missing, values) : messages.underpaid.about}</p>${moneyNotes(context)}
${canContinue && html`<p><a class="button" href="${path}?again=1">${formatMessage(messages.underpaid.payMissing, values)}</a></p>`}
<dl><dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, messages.language)}</dd></dl>
${back(context, false)}`;
}

/** A payment arrived that did not pay the charge: the payer must not pay again before someone decides. */
export function heldMoneyScreen(context: RenderContext, canRetry: boolean): SafeHtml {
  const { messages, path, state } = context;
  const money = undecidedPayment(state.attempts);
  if (!money) throw new Error('no undecided payment');
  const texts = messages.heldMoney;
  const late = money.kind === 'paid_late';
  return html`${SAFE}<h1>${formatMessage(late ? texts.late : texts.again, { amount: moneyText(money.amount) })}</h1>
<p>${late ? texts.lateAbout : texts.againAbout}</p>${moneyNotes(context)}
${back(context, false)}${canRetry && html`<p><a class="link" href="${path}?again=1">${texts.insist}</a></p>`}`;
}

/** The attempt ended, and no money arrived for it: both were read together. */
export function endedScreen(
  context: RenderContext,
  texts: { readonly title: string; readonly nothing: string; readonly again: string; readonly other: string },
  reason: string | null,
  { payin }: PagePayin,
): SafeHtml {
  const { state, path } = context;
  const mark = payin.status === 'DECLINED' ? CROSS : payin.errorCode === 'EXPIRED' ? EXPIRED : STOPPED;
  const title = html`${mark}<h1>${texts.title}</h1>${reason !== null && html`<p>${reason}</p>`}<p><strong>${texts.nothing}</strong></p>${moneyNotes(context)}`;
  // A payin without a link cannot be retried; a link can be until it expires.
  if (state.link === null) return html`${title}${back(context, true)}`;
  const hasOtherMethods = otherMethods(state, payin.source.rail).length > 0;
  return html`${title}<p><a class="button" href="${path}?m=${payin.source.rail}">${texts.again}</a></p>
${hasOtherMethods && html`<p><a class="button quiet" href="${path}?again=1">${texts.other}</a></p>`}${back(context, false)}`;
}

export function linkExpiredScreen(context: RenderContext): SafeHtml {
  const { linkExpired } = context.messages;
  return html`${EXPIRED}<h1>${linkExpired.title}</h1>${moneyNotes(context)}<p>${formatShopMessage(context, linkExpired.about)}</p>${back(context, true)}`;
}
