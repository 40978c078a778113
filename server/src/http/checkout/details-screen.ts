import { ID_TYPES } from '../../customers/customer.ts';
import { html, type SafeHtml } from '../html.ts';
import { bankName, type Drawing, type WrongField } from './drawing.ts';
import { say } from './messages.ts';
import type { Screen } from './screen.ts';

type Details = Extract<Screen, { kind: 'details' }>;

interface Field {
  readonly name: 'name' | 'idNumber' | 'phone' | 'email';
  readonly type: 'text' | 'tel' | 'email';
  readonly autocomplete: string;
  readonly inputmode: 'text' | 'tel' | 'email';
  readonly hint?: string;
}

export function detailsScreen(drawing: Drawing, { rail, bank, personType }: Details): SafeHtml {
  const { words, path, typed, state } = drawing;
  const own = state.link === null;
  const texts = words.details;
  const label = bank === null ? texts.go : say(texts.goToBank, { bank: bankName(bank) });
  return html`<h1>${texts.title}</h1><p>${texts.about}</p>${summary(drawing)}
<form method="post" action="${path}/${own ? 'payer' : 'begin'}" novalidate>
${!own && html`<input type="hidden" name="method" value="${rail}">`}
${!own && bank !== null && html`<input type="hidden" name="bank" value="${bank}"><input type="hidden" name="personType" value="${personType ?? ''}">`}
${field(drawing, { name: 'name', type: 'text', autocomplete: 'name', inputmode: 'text' })}
${idType(drawing)}
${field(drawing, { name: 'idNumber', type: 'text', autocomplete: 'off', inputmode: 'text' })}
${field(drawing, { name: 'phone', type: 'tel', autocomplete: 'tel', inputmode: 'tel', hint: texts.phoneHint })}
${field(drawing, { name: 'email', type: 'email', autocomplete: 'email', inputmode: 'email' })}
<p class="field"><label class="choice"><input id="authorize" type="checkbox" name="authorize" value="yes" required${typed?.values['authorize'] === 'yes' && html` checked`}${invalid(drawing, 'authorize')}><span>${texts.authorize}</span></label>${error(drawing, 'authorize')}</p>
<details><summary>${texts.authorization}</summary><p>${authorizationText(drawing)}</p></details>
<p class="last"><button class="button">${label}</button></p></form>`;
}

function authorizationText({ words, shop: { organization } }: Drawing): string {
  return say(words.details.authorizationText, {
    shop: organization.name,
    contact: organization.supportContact,
  });
}

/** On top, with a way to each field: who cannot see the page hears at once what is left to do. */
function summary({ words, typed }: Drawing): SafeHtml | null {
  if (!typed || typed.wrong.length === 0) return null;
  return html`<div class="wrong" role="alert" tabindex="-1" data-focus><strong>${words.details.wrong}</strong>
<ul>${typed.wrong.map((name) => html`<li><a href="#${name}">${words.details.errors[name]}</a></li>`)}</ul></div>`;
}

function field(drawing: Drawing, { name, type, autocomplete, inputmode, hint }: Field): SafeHtml {
  const { words, typed } = drawing;
  const described = [hint === undefined ? '' : `${name}-hint`, isWrong(drawing, name) ? `${name}-wrong` : '']
    .filter((id) => id !== '')
    .join(' ');
  return html`<p class="field"><label for="${name}">${words.details[name]}</label>${hint !== undefined && html`<small id="${name}-hint">${hint}</small>`}
<input id="${name}" name="${name}" type="${type}" inputmode="${inputmode}" autocomplete="${autocomplete}" required maxlength="254" value="${typed?.values[name] ?? ''}"${
    described !== '' && html` aria-describedby="${described}"`
  }${isWrong(drawing, name) && html` aria-invalid="true"`}>${error(drawing, name)}</p>`;
}

function idType(drawing: Drawing): SafeHtml {
  const { words, typed } = drawing;
  const chosen = typed?.values['idType'] ?? 'CO_CC';
  return html`<p class="field"><label for="idType">${words.details.idType}</label>
<select id="idType" name="idType" required${invalid(drawing, 'idType')}>${ID_TYPES.map(
    (type) =>
      html`<option value="${type}"${type === chosen && html` selected`}>${words.details.idTypes[type]}</option>`,
  )}</select>${error(drawing, 'idType')}</p>`;
}

function isWrong({ typed }: Drawing, name: WrongField): boolean {
  return typed?.wrong.includes(name) ?? false;
}

function invalid(drawing: Drawing, name: WrongField): SafeHtml | false {
  return isWrong(drawing, name) && html` aria-invalid="true" aria-describedby="${name}-wrong"`;
}

function error(drawing: Drawing, name: WrongField): SafeHtml | false {
  return (
    isWrong(drawing, name) &&
    html`<span class="error" id="${name}-wrong">${drawing.words.details.errors[name]}</span>`
  );
}
