import { html, type SafeHtml } from '../html.ts';
import type { Drawing, OfferedBank } from './drawing.ts';
import { say } from './messages.ts';

/** Wallets that most people have, before the alphabet. */
const MOST_USED = ['CO_NEQUI', 'CO_DAVIPLATA', 'CO_BANCOLOMBIA', 'CO_DAVIVIENDA', 'CO_BOGOTA'];

export function bankScreen(drawing: Drawing, next: 'details' | 'begin'): SafeHtml {
  const { words, banks, state, path, typed } = drawing;
  const chosen = typed?.values['bank'] ?? state.link?.bank ?? '';
  const first = MOST_USED.flatMap((code) => banks.filter((bank) => bank.code === code));
  const rest = banks
    .filter((bank) => !MOST_USED.includes(bank.code))
    .toSorted((a, b) => a.name.localeCompare(b.name, 'es'));
  const choice = ({ code, name }: OfferedBank) =>
    html`<label class="choice"><input type="radio" name="bank" value="${code}" required${code === chosen && html` checked`}><span>${name}</span></label>`;
  const person = (value: 'INDIVIDUAL' | 'BUSINESS') =>
    html`<label class="choice"><input type="radio" name="personType" value="${value}" required${
      value === (typed?.values['personType'] ?? 'INDIVIDUAL') && html` checked`
    }><span>${words.bank[value]}</span></label>`;
  const named = banks.find((bank) => bank.code === chosen)?.name;
  // To go on is a question of the address until an attempt begins: then it is a form that is sent once.
  const form =
    next === 'begin' ? html`method="post" action="${path}/begin"` : html`method="get" action="${path}"`;
  return html`<h1>${words.bank.title}</h1><form ${form} data-banks>
<input type="hidden" name="${next === 'begin' ? 'method' : 'm'}" value="PSE">
<fieldset class="people"><legend>${words.bank.person}</legend>${person('INDIVIDUAL')}${person('BUSINESS')}</fieldset>
<p class="search" hidden><label for="search">${words.bank.search}</label><input id="search" type="search" autocomplete="off" data-none="${words.bank.none}"></p>
<fieldset class="banks"><legend>${words.bank.limit}</legend>${first.map(choice)}</fieldset>
<fieldset class="banks"><legend>${words.bank.all}</legend>${rest.map(choice)}</fieldset>
<p class="last stays"><button class="button" data-go-to="${words.bank.goTo}">${named === undefined ? words.bank.go : say(words.bank.goTo, { bank: named })}</button></p></form>`;
}
