import type { PagePayin, SuspendedMoney } from '../../flows/payment-links/load-checkout.ts';
import { brebQr } from '../../payins/breb-qr.ts';
import { html, type SafeHtml, trustedMarkup } from '../html.ts';
import { bankScreen } from './bank-screen.ts';
import { detailsScreen } from './details-screen.ts';
import { bankName, type Drawing } from './drawing.ts';
import { bogotaTime, groupedKey, masked, moneyText } from './format.ts';
import { say, type Words } from './messages.ts';
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

export function draw(screen: Screen, drawing: Drawing): SafeHtml {
  const { words } = drawing;
  switch (screen.kind) {
    case 'method':
      return methodScreen(drawing);
    case 'start':
      return html`<h1>${words.start.title}</h1><p>${words.start.about}</p>${payer(drawing)}${begin(drawing, words.start.go)}`;
    case 'bank':
      return bankScreen(drawing, screen.next);
    case 'details':
      return detailsScreen(drawing, screen);
    case 'opening':
      return html`${CLOCK}<h1>${words.opening.title}</h1><p>${words.opening.about}</p>`;
    case 'to_bank':
      return toBank(drawing, screen.attempt);
    case 'pending':
      return pending(drawing, screen.attempt);
    case 'key':
      return keyScreen(drawing, screen.attempt);
    case 'closing':
      return html`${CLOCK}<h1>${words.closing.title}</h1><p>${words.closing.about}</p>`;
    case 'underpaid':
      return underpaid(drawing, screen.attempt);
    case 'confirmed':
      return confirmed(drawing, screen.attempt);
    case 'declined':
      return ended(drawing, words.declined, reasonOf(words, screen.attempt), screen.attempt);
    case 'canceled':
      return ended(drawing, words.canceled, null, screen.attempt);
    case 'key_expired':
      return ended(drawing, words.keyExpired, null, screen.attempt);
    case 'already_paid':
      return html`${CHECK}<h1>${words.alreadyPaid.title}</h1>
<p><a class="button quiet" href="${drawing.receiptUrl(screen.attempt)}">${words.alreadyPaid.receipt}</a></p>${back(drawing, true)}`;
    case 'unavailable':
      return html`${CLOCK}<h1>${words.unavailable.title}</h1><p>${words.unavailable.about}</p>${back(drawing, false)}${support(drawing)}`;
    case 'suspended':
      return html`${CLOCK}<h1>${words.shopSuspended.title}</h1><p>${words.shopSuspended.about}</p>${back(drawing, false)}${support(drawing)}`;
    case 'link_expired':
      return html`${CLOCK}<h1>${words.linkExpired.title}</h1><p>${sayShop(drawing, words.linkExpired.about)}</p>${back(drawing, true)}`;
    case 'payin_expired':
      return html`${CLOCK}<h1>${words.payinExpired.title}</h1><p>${sayShop(drawing, words.payinExpired.about)}</p>${back(drawing, true)}`;
  }
}

function sayShop({ shop: { organization } }: Drawing, text: string): string {
  return say(text, { shop: organization.name, contact: organization.supportContact });
}

function methodScreen({ words, path }: Drawing): SafeHtml {
  const row = (rail: string, name: string, about: string) =>
    html`<li><a class="row" href="${path}?m=${rail}"><span><strong>${name}</strong><span>${about}</span></span>${ARROW}</a></li>`;
  return html`<h1>${words.method.title}</h1><ul class="rows">
${row('BRE_B', words.method.breb, words.method.brebAbout)}
${row('PSE', words.method.pse, words.method.pseAbout)}</ul>`;
}

/** What the merchant said of the payer, masked: whoever has the link may read it. */
function payer({ state: { link } }: Drawing): SafeHtml | null {
  const customer = link?.customer;
  if (!customer) return null;
  return html`<p class="who">${masked(customer.name, 'name')} · ${masked(customer.idNumber, 'number')}</p>`;
}

function begin({ path }: Drawing, label: string): SafeHtml {
  return html`<form method="post" action="${path}/begin"><input type="hidden" name="method" value="BRE_B">
<button class="button">${label}</button></form>`;
}

function toBank({ words }: Drawing, { payin }: PagePayin): SafeHtml {
  if (payin.source.rail !== 'PSE' || payin.source.page === null)
    throw new Error('only who has a bank page is sent to it');
  const bank = bankName(payin.source.bank);
  return html`${CLOCK}<h1>${say(words.toBank.title, { bank })}</h1><p>${words.toBank.about}</p>
<p><a class="button" href="${payin.source.page.url}" data-go rel="noreferrer">${say(words.toBank.go, { bank })}</a></p>`;
}

function pending(drawing: Drawing, { payin }: PagePayin): SafeHtml {
  const { words } = drawing;
  const page = payin.source.rail === 'PSE' ? payin.source.page : null;
  const cus = page?.cus ?? null;
  return html`${CLOCK}<h1>${words.pending.title}</h1><p>${words.pending.about}</p>
<dl>${cus !== null && html`<dt>${words.cus}</dt><dd>${cus}</dd>`}<dt>${words.reference}</dt><dd>${payin.reference}</dd>
<dt>${words.dateAndTime}</dt><dd>${bogotaTime(payin.createdAt, words.language)}</dd></dl>
${page && html`<p><a class="button quiet" href="${page.url}" rel="noreferrer">${words.pending.again}</a></p>`}${support(drawing)}`;
}

function keyScreen(drawing: Drawing, { payin }: PagePayin): SafeHtml {
  const { words, shop, state, qrNetwork, path } = drawing;
  if (payin.source.rail !== 'BRE_B') throw new Error('only Bre-B has a key');
  const { key } = payin.source;
  const amount = moneyText(payin.amount);
  const left = Math.max(0, Math.round((payin.expiresAt.getTime() - state.now.getTime()) / 1000));
  const qr = html`<img class="qr" width="240" height="240" alt="${say(words.breb.qr, { amount })}" src="${brebQr(qrNetwork, shop.organization, payin, key)}">`;
  const steps = words.breb.steps as unknown as readonly string[];
  const copy = html`<p><button class="button" type="button" data-copy="${key}" data-copied="${words.breb.copied}" hidden>${words.breb.copy}</button></p>`;
  const shown = html`<p class="key" data-key="${key}">${groupedKey(key)}</p>`;
  // A phone cannot scan itself: there the key comes first. Which of the two is shown is the sheet's to say.
  return html`<div class="on-phone"><h1>${words.breb.title}</h1>${shown}${copy}
<ol class="steps">${steps.map((step) => html`<li>${say(step, { amount })}</li>`)}</ol>
<details class="qr-box"><summary>${words.breb.showQr}</summary>${qr}</details></div>
<div class="on-desk"><h1>${words.breb.scan}</h1>${qr}${shown}${copy}</div>
<section class="waiting" aria-label="${words.waiting.title}"><p class="pulse"><strong>${words.waiting.title}</strong></p><p>${words.waiting.about}</p>
<p data-left="${left}" data-over="${words.waiting.over}" data-minute="${words.waiting.minute}" data-minutes="${words.waiting.minutes}">${leftText(words, left)}</p></section>
${state.link && state.link.rail === null && html`<form method="post" action="${path}/change"><button class="link">${words.breb.other}</button></form>`}`;
}

/** The part that counts stands alone: the script changes it and nothing else. */
function leftText(words: Words, seconds: number): SafeHtml {
  const [before = '', after = ''] = words.waiting.left.split('{time}');
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
  return html`${before}<span class="time">${time}</span>${after}`;
}

function underpaid(drawing: Drawing, { payin, suspended }: PagePayin): SafeHtml {
  const { words, path, state } = drawing;
  const open = state.link !== null && state.link.status === 'PENDING' && state.link.shutsAt > state.now;
  const values = { paid: moneyText(payin.confirmedAmount ?? 0n), amount: moneyText(payin.amount) };
  const money = suspended.find(({ kind }) => kind === 'underpaid')?.state ?? 'held';
  return html`${CLOCK}<h1>${say(words.underpaid.title, values)}</h1><p>${words.underpaid.about} ${sayShop(drawing, words.suspended[money])}</p>
<p>${sayShop(drawing, words.underpaid.ask)}</p>
<dl><dt>${words.reference}</dt><dd>${payin.reference}</dd>
<dt>${words.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, words.language)}</dd></dl>
${open && html`<p><a class="button quiet" href="${path}?again=1">${words.underpaid.again}</a></p>`}${back(drawing, false)}`;
}

export function facts({ words, shop }: Pick<Drawing, 'words' | 'shop'>, attempt: PagePayin): SafeHtml {
  const { payin } = attempt;
  const { source } = payin;
  const cus = source.rail === 'PSE' ? (source.page?.cus ?? null) : null;
  const excess = excessOf(attempt);
  return html`<dl><dt>${words.amount}</dt><dd>${moneyText(payin.confirmedAmount ?? payin.amount)} COP</dd>
${excess.length > 0 && html`<dt>${words.suspended.excessLabel}</dt><dd>${moneyText(sumOf(excess))} COP</dd>`}
<dt>${words.shop}</dt><dd>${shop.organization.name}</dd>
<dt>${words.dateAndTime}</dt><dd>${bogotaTime(payin.resultAt ?? payin.updatedAt, words.language)}</dd>
<dt>${words.reference}</dt><dd>${payin.reference}</dd>
<dt>${words.paidWith}</dt><dd>${source.rail === 'PSE' ? `PSE · ${bankName(source.bank)}` : 'Bre-B'}</dd>
${source.rail === 'BRE_B' ? html`<dt>${words.key}</dt><dd>${groupedKey(source.key)}</dd>` : cus !== null && html`<dt>${words.cus}</dt><dd>${cus}</dd>`}</dl>`;
}

/** What a payer sent beyond the amount: more at once, or again. */
function excessOf({ payin, suspended }: PagePayin): readonly SuspendedMoney[] {
  return payin.status === 'CONFIRMED' ? suspended : [];
}

function sumOf(money: readonly SuspendedMoney[]): bigint {
  return money.reduce((sum, { amount }) => sum + amount, 0n);
}

/** For each decision about the excess: how much, what happens with it, and whom to ask while nothing is decided. */
function excessNotes(drawing: Drawing, attempt: PagePayin): SafeHtml[] {
  const { words } = drawing;
  return [...Map.groupBy(excessOf(attempt), ({ state }) => state)].map(
    ([
      state,
      money,
    ]) => html`<p class="note"><strong>${say(words.suspended.excess, { excess: moneyText(sumOf(money)) })}.</strong> ${sayShop(drawing, words.suspended[state])}
${state === 'held' && sayShop(drawing, words.underpaid.ask)}</p>`,
  );
}

function confirmed(drawing: Drawing, attempt: PagePayin): SafeHtml {
  const { words } = drawing;
  // A payer who has something to read is not taken back to the shop automatically.
  const notes = excessNotes(drawing, attempt);
  return html`${CHECK}<h1>${words.confirmed.title}</h1>${facts(drawing, attempt)}${notes}${back(drawing, notes.length === 0)}
<p><a class="button quiet" href="${drawing.receiptUrl(attempt)}">${words.confirmed.receipt}</a></p>`;
}

/** Without a code nobody said why. */
function reasonOf(words: Words, { payin }: PagePayin): string {
  return words.reasons[payin.errorCode ?? 'RAIL_REJECTED'];
}

function ended(
  drawing: Drawing,
  texts: { readonly title: string; readonly nothing: string; readonly again: string; readonly other: string },
  reason: string | null,
  { payin }: PagePayin,
): SafeHtml {
  const { state, path } = drawing;
  const title = html`${CROSS}<h1>${texts.title}</h1>${reason !== null && html`<p>${reason}</p>`}<p><strong>${texts.nothing}</strong></p>`;
  // A payin of its own is over; a link can be tried again while it lives.
  if (state.link === null) return html`${title}${back(drawing, true)}${support(drawing)}`;
  const choice = state.link.rail === null && state.shop.organization.rails.size > 1;
  return html`${title}<p><a class="button" href="${path}?m=${payin.source.rail}">${texts.again}</a></p>
${choice && html`<p><a class="button quiet" href="${path}?again=1">${texts.other}</a></p>`}${back(drawing, false)}${support(drawing)}`;
}

function support(drawing: Drawing): SafeHtml {
  return html`<p class="support">${sayShop(drawing, drawing.words.support)}</p>`;
}

/** The merchant's address, unchanged, with its host in plain sight. */
function back(drawing: Drawing, soon: boolean): SafeHtml | null {
  const { words, state } = drawing;
  const url = state.link?.callbackUrl ?? state.attempt?.payin.callbackUrl ?? null;
  if (url === null) return null;
  return html`<p><a class="button${!soon && ' quiet'}" href="${url}" rel="noreferrer"${soon && html` data-return`}>${sayShop(drawing, words.back)}</a>
<small class="host">${say(words.backHost, { host: new URL(url).host })}${soon && html`<span data-soon hidden> · ${words.backSoon}</span>`}</small></p>`;
}
