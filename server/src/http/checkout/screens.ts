import type { PagePayin, SuspendedMoney } from '../../flows/payment-links/load-checkout.ts';
import { brebQr } from '../../payins/breb-qr.ts';
import { html, type SafeHtml, trustedMarkup } from '../html.ts';
import { bankScreen } from './bank-screen.ts';
import { detailsScreen } from './details-screen.ts';
import { bogotaTime, groupedKey, masked, moneyText } from './format.ts';
import { formatMessage, type Messages } from './messages.ts';
import { bankName, type RenderContext } from './render-context.ts';
import type { Screen } from './screen.ts';

const CHECK = trustedMarkup(
  '<svg class="mark good" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="m15 25 6 6 12-13"/></svg>',
);
const CROSS = trustedMarkup(
  '<svg class="mark bad" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="m17 17 14 14m0-14L17 31"/></svg>',
);
const CLOCK = trustedMarkup(
  '<svg class="mark wait" viewBox="0 0 48 48" aria-hidden="true"><circle cx="24" cy="24" r="21"/><path d="M24 13v12l8 5"/></svg>',
);
const ARROW = trustedMarkup(
  '<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d="m8 5 5 5-5 5"/></svg>',
);

export function renderScreen(screen: Screen, context: RenderContext): SafeHtml {
  const { messages } = context;
  switch (screen.kind) {
    case 'method':
      return methodScreen(context);
    case 'start':
      return html`<h1>${messages.start.title}</h1><p>${messages.start.about}</p>${maskedPayer(context)}${startForm(context, messages.start.go)}`;
    case 'bank':
      return bankScreen(context, screen.next);
    case 'details':
      return detailsScreen(context, screen);
    case 'opening':
      return html`${CLOCK}<h1>${messages.opening.title}</h1><p>${messages.opening.about}</p>`;
    case 'to_bank':
      return toBankScreen(context, screen.attempt);
    case 'pending':
      return pendingScreen(context, screen.attempt);
    case 'key':
      return keyScreen(context, screen.attempt);
    case 'closing':
      return html`${CLOCK}<h1>${messages.closing.title}</h1><p>${messages.closing.about}</p>`;
    case 'underpaid':
      return underpaidScreen(context, screen.attempt);
    case 'confirmed':
      return confirmedScreen(context, screen.attempt);
    case 'declined':
      return endedScreen(context, messages.declined, declineReason(messages, screen.attempt), screen.attempt);
    case 'canceled':
      return endedScreen(context, messages.canceled, null, screen.attempt);
    case 'key_expired':
      return endedScreen(context, messages.keyExpired, null, screen.attempt);
    case 'already_paid':
      return html`${CHECK}<h1>${messages.alreadyPaid.title}</h1>
<p><a class="button quiet" href="${context.receiptUrl(screen.attempt)}">${messages.alreadyPaid.receipt}</a></p>${back(context, true)}`;
    case 'unavailable':
      return html`${CLOCK}<h1>${messages.unavailable.title}</h1><p>${messages.unavailable.about}</p>${back(context, false)}${support(context)}`;
    case 'suspended':
      return html`${CLOCK}<h1>${messages.shopSuspended.title}</h1><p>${messages.shopSuspended.about}</p>${back(context, false)}${support(context)}`;
    case 'link_expired':
      return html`${CLOCK}<h1>${messages.linkExpired.title}</h1><p>${formatShopMessage(context, messages.linkExpired.about)}</p>${back(context, true)}`;
    case 'payin_expired':
      return html`${CLOCK}<h1>${messages.payinExpired.title}</h1><p>${formatShopMessage(context, messages.payinExpired.about)}</p>${back(context, true)}`;
  }
}

function formatShopMessage({ shop: { organization } }: RenderContext, text: string): string {
  return formatMessage(text, { shop: organization.name, contact: organization.supportContact });
}

function methodScreen({ messages, path }: RenderContext): SafeHtml {
  const row = (rail: string, name: string, about: string) =>
    html`<li><a class="row" href="${path}?m=${rail}"><span><strong>${name}</strong><span>${about}</span></span>${ARROW}</a></li>`;
  return html`<h1>${messages.method.title}</h1><ul class="rows">
${row('BRE_B', messages.method.breb, messages.method.brebAbout)}
${row('PSE', messages.method.pse, messages.method.pseAbout)}</ul>`;
}

/** The payer data sent by the merchant, masked because anyone with the link can read it. */
function maskedPayer({ state: { link } }: RenderContext): SafeHtml | null {
  const customer = link?.customer;
  if (!customer) return null;
  return html`<p class="who">${masked(customer.name, 'name')} · ${masked(customer.idNumber, 'number')}</p>`;
}

function startForm({ path }: RenderContext, label: string): SafeHtml {
  return html`<form method="post" action="${path}/begin"><input type="hidden" name="method" value="BRE_B">
<button class="button">${label}</button></form>`;
}

function toBankScreen({ messages }: RenderContext, { payin }: PagePayin): SafeHtml {
  if (payin.source.rail !== 'PSE' || payin.source.page === null)
    throw new Error('payin has no bank page URL');
  const bank = bankName(payin.source.bank);
  return html`${CLOCK}<h1>${formatMessage(messages.toBank.title, { bank })}</h1><p>${messages.toBank.about}</p>
<p><a class="button" href="${payin.source.page.url}" data-go rel="noreferrer">${formatMessage(messages.toBank.go, { bank })}</a></p>`;
}

function pendingScreen(context: RenderContext, { payin }: PagePayin): SafeHtml {
  const { messages } = context;
  const page = payin.source.rail === 'PSE' ? payin.source.page : null;
  const cus = page?.cus ?? null;
  return html`${CLOCK}<h1>${messages.pending.title}</h1><p>${messages.pending.about}</p>
<dl>${cus !== null && html`<dt>${messages.cus}</dt><dd>${cus}</dd>`}<dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.createdAt, messages.language)}</dd></dl>
${page && html`<p><a class="button quiet" href="${page.url}" rel="noreferrer">${messages.pending.again}</a></p>`}${support(context)}`;
}

function keyScreen(context: RenderContext, { payin }: PagePayin): SafeHtml {
  const { messages, shop, state, qrNetwork, path } = context;
  if (payin.source.rail !== 'BRE_B') throw new Error('payin is not on the Bre-B rail');
  const { key } = payin.source;
  const amount = moneyText(payin.amount);
  const secondsLeft = Math.max(0, Math.round((payin.expiresAt.getTime() - state.now.getTime()) / 1000));
  const qr = html`<img class="qr" width="240" height="240" alt="${formatMessage(messages.breb.qr, { amount })}" src="${brebQr(qrNetwork, shop.organization, payin, key)}">`;
  const steps = messages.breb.steps as unknown as readonly string[];
  const copy = html`<p><button class="button" type="button" data-copy="${key}" data-copied="${messages.breb.copied}" hidden>${messages.breb.copy}</button></p>`;
  const keyText = html`<p class="key" data-key="${key}">${groupedKey(key)}</p>`;
  // A phone cannot scan its own screen, so it shows the key first. The style sheet selects one of the two variants.
  return html`<div class="on-phone"><h1>${messages.breb.title}</h1>${keyText}${copy}
<ol class="steps">${steps.map((step) => html`<li>${formatMessage(step, { amount })}</li>`)}</ol>
<details class="qr-box"><summary>${messages.breb.showQr}</summary>${qr}</details></div>
<div class="on-desktop"><h1>${messages.breb.scan}</h1>${qr}${keyText}${copy}</div>
<section class="waiting" aria-label="${messages.waiting.title}"><p class="pulse"><strong>${messages.waiting.title}</strong></p><p>${messages.waiting.about}</p>
<p data-left="${secondsLeft}" data-over="${messages.waiting.over}" data-minute="${messages.waiting.minute}" data-minutes="${messages.waiting.minutes}">${timeLeft(messages, secondsLeft)}</p></section>
${state.link && state.link.rail === null && html`<form method="post" action="${path}/change"><button class="link">${messages.breb.other}</button></form>`}`;
}

/** The time is in its own element: the script updates only that. */
function timeLeft(messages: Messages, seconds: number): SafeHtml {
  const [before = '', after = ''] = messages.waiting.left.split('{time}');
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return html`${before}<span class="time">${time}</span>${after}`;
}

function underpaidScreen(context: RenderContext, { payin, suspended }: PagePayin): SafeHtml {
  const { messages, path, state } = context;
  const canRetry = state.link !== null && state.link.status === 'PENDING' && state.link.closesAt > state.now;
  const values = { paid: moneyText(payin.confirmedAmount ?? 0n), amount: moneyText(payin.amount) };
  const money = suspended.find(({ kind }) => kind === 'underpaid')?.state ?? 'held';
  return html`${CLOCK}<h1>${formatMessage(messages.underpaid.title, values)}</h1><p>${messages.underpaid.about} ${formatShopMessage(context, messages.suspended[money])}</p>
<p>${formatShopMessage(context, messages.underpaid.ask)}</p>
<dl><dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, messages.language)}</dd></dl>
${canRetry && html`<p><a class="button quiet" href="${path}?again=1">${messages.underpaid.again}</a></p>`}${back(context, false)}`;
}

export function paymentFacts(
  { messages, shop }: Pick<RenderContext, 'messages' | 'shop'>,
  attempt: PagePayin,
): SafeHtml {
  const { payin } = attempt;
  const { source } = payin;
  const cus = source.rail === 'PSE' ? (source.page?.cus ?? null) : null;
  const excess = getExcess(attempt);
  return html`<dl><dt>${messages.amount}</dt><dd>${moneyText(payin.confirmedAmount ?? payin.amount)} COP</dd>
${excess.length > 0 && html`<dt>${messages.suspended.excessLabel}</dt><dd>${moneyText(totalAmount(excess))} COP</dd>`}
<dt>${messages.shop}</dt><dd>${shop.organization.name}</dd>
<dt>${messages.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, messages.language)}</dd>
<dt>${messages.reference}</dt><dd>${payin.reference}</dd>
<dt>${messages.paidWith}</dt><dd>${source.rail === 'PSE' ? `PSE · ${bankName(source.bank)}` : 'Bre-B'}</dd>
${source.rail === 'BRE_B' ? html`<dt>${messages.key}</dt><dd>${groupedKey(source.key)}</dd>` : cus !== null && html`<dt>${messages.cus}</dt><dd>${cus}</dd>`}</dl>`;
}

/** Money beyond the amount: an overpayment or a second payment. */
function getExcess({ payin, suspended }: PagePayin): readonly SuspendedMoney[] {
  return payin.status === 'CONFIRMED' ? suspended : [];
}

function totalAmount(money: readonly SuspendedMoney[]): bigint {
  return money.reduce((sum, { amount }) => sum + amount, 0n);
}

/** One note per state of the excess money: the amount, what happens with it, and the contact while undecided. */
function excessNotes(context: RenderContext, attempt: PagePayin): SafeHtml[] {
  const { messages } = context;
  return [...Map.groupBy(getExcess(attempt), ({ state }) => state)].map(
    ([
      state,
      money,
    ]) => html`<p class="note"><strong>${formatMessage(messages.suspended.excess, { excess: moneyText(totalAmount(money)) })}.</strong> ${formatShopMessage(context, messages.suspended[state])}
${state === 'held' && formatShopMessage(context, messages.underpaid.ask)}</p>`,
  );
}

function confirmedScreen(context: RenderContext, attempt: PagePayin): SafeHtml {
  const { messages } = context;
  // No automatic redirect while there are notes to read.
  const notes = excessNotes(context, attempt);
  return html`${CHECK}<h1>${messages.confirmed.title}</h1>${paymentFacts(context, attempt)}${notes}${back(context, notes.length === 0)}
<p><a class="button quiet" href="${context.receiptUrl(attempt)}">${messages.confirmed.receipt}</a></p>`;
}

/** A decline without an errorCode has no known reason. */
function declineReason(messages: Messages, { payin }: PagePayin): string {
  return messages.reasons[payin.errorCode ?? 'RAIL_REJECTED'];
}

function endedScreen(
  context: RenderContext,
  texts: { readonly title: string; readonly nothing: string; readonly again: string; readonly other: string },
  reason: string | null,
  { payin }: PagePayin,
): SafeHtml {
  const { state, path } = context;
  const title = html`${CROSS}<h1>${texts.title}</h1>${reason !== null && html`<p>${reason}</p>`}<p><strong>${texts.nothing}</strong></p>`;
  // A payin without a link cannot be retried; a link can be until it expires.
  if (state.link === null) return html`${title}${back(context, true)}${support(context)}`;
  const hasOtherMethods = state.link.rail === null && state.shop.organization.rails.size > 1;
  return html`${title}<p><a class="button" href="${path}?m=${payin.source.rail}">${texts.again}</a></p>
${hasOtherMethods && html`<p><a class="button quiet" href="${path}?again=1">${texts.other}</a></p>`}${back(context, false)}${support(context)}`;
}

function support(context: RenderContext): SafeHtml {
  return html`<p class="support">${formatShopMessage(context, context.messages.support)}</p>`;
}

/**
 * Link to the merchant's callback URL, unchanged, with its host visible.
 * @param redirect whether the script follows the link automatically
 */
function back(context: RenderContext, redirect: boolean): SafeHtml | null {
  const { messages, state } = context;
  const url = state.link?.callbackUrl ?? state.attempt?.payin.callbackUrl ?? null;
  if (url === null) return null;
  return html`<p><a class="button${!redirect && ' quiet'}" href="${url}" rel="noreferrer"${redirect && html` data-return`}>${formatShopMessage(context, messages.back)}</a>
<small class="host">${formatMessage(messages.backHost, { host: new URL(url).host })}${redirect && html`<span data-soon hidden> · ${messages.backSoon}</span>`}</small></p>`;
}
