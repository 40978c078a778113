import { html, type SafeHtml } from '../html.ts';
import { formatMessage } from './messages.ts';
import { type OfferedBank, PAYER_FORM_ID, type RenderContext } from './render-context.ts';
import { exclusionNotes } from './start-screens.ts';

/** The most used wallets and banks, listed before the others. */
const MOST_USED = ['CO_NEQUI', 'CO_DAVIPLATA', 'CO_BANCOLOMBIA', 'CO_DAVIVIENDA', 'CO_BOGOTA'];

export function bankScreen(context: RenderContext, next: 'details' | 'begin'): SafeHtml {
  const { messages, banks, state, path, form } = context;
  const chosenCode = form.values['bank'] ?? state.link?.pseBank ?? '';
  const chosen = banks.find((bank) => bank.code === chosenCode);
  const person = (value: 'INDIVIDUAL' | 'BUSINESS') =>
    html`<label class="choice"><input type="radio" name="personType" value="${value}" required${
      value === (form.values['personType'] ?? 'INDIVIDUAL') && html` checked`
    }><span>${messages.bank[value]}</span></label>`;
  // GET while only query parameters are collected; POST when the submission starts an attempt.
  const target =
    next === 'begin' ? html`method="post" action="${path}/begin"` : html`method="get" action="${path}"`;
  return html`<h1>${messages.bank.title}</h1>${exclusionNotes(context)}<form id="${PAYER_FORM_ID}" ${target} data-banks>
<input type="hidden" name="${next === 'begin' ? 'method' : 'm'}" value="PSE">
<fieldset class="people"><legend>${messages.bank.person}</legend>${person('INDIVIDUAL')}${person('BUSINESS')}</fieldset>
${chosen ? chosenBank(context, chosen) : bankList(context, null)}
<p class="last stays"><button class="button" data-go-to="${messages.bank.goTo}">${chosen ? formatMessage(messages.bank.goTo, { bank: chosen.name }) : messages.bank.go}</button></p></form>`;
}

/** A bank that the merchant or an earlier attempt chose comes first; the others are shown on demand. */
function chosenBank(context: RenderContext, chosen: OfferedBank): SafeHtml {
  const { messages } = context;
  return html`<fieldset class="chosen"><legend>${messages.bank.yours}</legend>${choice(chosen, true)}</fieldset>
<details><summary>${messages.bank.change}</summary>${bankList(context, chosen)}</details>`;
}

function bankList({ messages, banks }: RenderContext, chosen: OfferedBank | null): SafeHtml {
  const listed = banks.filter((bank) => bank !== chosen);
  const mostUsed = MOST_USED.flatMap((code) => listed.filter((bank) => bank.code === code));
  const others = listed
    .filter((bank) => !MOST_USED.includes(bank.code))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'es'));
  return html`<p class="search" hidden><label for="search">${messages.bank.search}</label><input id="search" type="search" autocomplete="off"></p>
<fieldset class="banks"><legend>${messages.bank.mostUsed}</legend>${mostUsed.map((bank) => choice(bank, false))}</fieldset>
<fieldset class="banks"><legend>${messages.bank.all}</legend>${others.map((bank) => choice(bank, false))}</fieldset>
<p class="none" role="status" data-none="${messages.bank.none}"></p>`;
}

function choice({ code, name }: OfferedBank, isChosen: boolean): SafeHtml {
  return html`<label class="choice"><input type="radio" name="bank" value="${code}" required${isChosen && html` checked`}><span>${name}</span></label>`;
}
