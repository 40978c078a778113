import { html, type SafeHtml } from '../html.ts';
import { formatMessage } from './messages.ts';
import type { OfferedBank, RenderContext } from './render-context.ts';

/** The most used wallets and banks, listed before the others. */
const MOST_USED = ['CO_NEQUI', 'CO_DAVIPLATA', 'CO_BANCOLOMBIA', 'CO_DAVIVIENDA', 'CO_BOGOTA'];

export function bankScreen(context: RenderContext, next: 'details' | 'begin'): SafeHtml {
  const { messages, banks, state, path, submitted } = context;
  const chosen = submitted?.values['bank'] ?? state.link?.pseBank ?? '';
  const mostUsed = MOST_USED.flatMap((code) => banks.filter((bank) => bank.code === code));
  const others = banks
    .filter((bank) => !MOST_USED.includes(bank.code))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'es'));
  const choice = ({ code, name }: OfferedBank) =>
    html`<label class="choice"><input type="radio" name="bank" value="${code}" required${code === chosen && html` checked`}><span>${name}</span></label>`;
  const person = (value: 'INDIVIDUAL' | 'BUSINESS') =>
    html`<label class="choice"><input type="radio" name="personType" value="${value}" required${
      value === (submitted?.values['personType'] ?? 'INDIVIDUAL') && html` checked`
    }><span>${messages.bank[value]}</span></label>`;
  const chosenName = banks.find((bank) => bank.code === chosen)?.name;
  // GET while only query parameters are collected; POST when the submission starts an attempt.
  const form =
    next === 'begin' ? html`method="post" action="${path}/begin"` : html`method="get" action="${path}"`;
  return html`<h1>${messages.bank.title}</h1><form ${form} data-banks>
<input type="hidden" name="${next === 'begin' ? 'method' : 'm'}" value="PSE">
<fieldset class="people"><legend>${messages.bank.person}</legend>${person('INDIVIDUAL')}${person('BUSINESS')}</fieldset>
<p class="search" hidden><label for="search">${messages.bank.search}</label><input id="search" type="search" autocomplete="off" data-none="${messages.bank.none}"></p>
<fieldset class="banks"><legend>${messages.bank.mostUsed}</legend>${mostUsed.map(choice)}</fieldset>
<fieldset class="banks"><legend>${messages.bank.all}</legend>${others.map(choice)}</fieldset>
<p class="last stays"><button class="button" data-go-to="${messages.bank.goTo}">${chosenName === undefined ? messages.bank.go : formatMessage(messages.bank.goTo, { bank: chosenName })}</button></p></form>`;
}
