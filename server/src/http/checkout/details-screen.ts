import { ID_TYPES } from '../../customers/customer.ts';
import { html, type SafeHtml } from '../html.ts';
import { formatMessage } from './messages.ts';
import { bankName, type InvalidField, type RenderContext } from './render-context.ts';
import type { Screen } from './screen.ts';

type Details = Extract<Screen, { kind: 'details' }>;

interface Field {
  readonly name: 'name' | 'idNumber' | 'phone' | 'email';
  readonly type: 'text' | 'tel' | 'email';
  readonly autocomplete: string;
  readonly inputmode: 'text' | 'tel' | 'email';
  readonly hint?: string;
}

export function detailsScreen(context: RenderContext, { rail, bank, personType }: Details): SafeHtml {
  const { messages, path, submitted, state } = context;
  const isPayinPage = state.link === null;
  const texts = messages.details;
  const label = bank === null ? texts.go : formatMessage(texts.goToBank, { bank: bankName(bank) });
  return html`<h1>${texts.title}</h1><p>${texts.about}</p>${summary(context)}
<form method="post" action="${path}/${isPayinPage ? 'payer' : 'begin'}" novalidate>
${!isPayinPage && html`<input type="hidden" name="method" value="${rail}">`}
${!isPayinPage && bank !== null && html`<input type="hidden" name="bank" value="${bank}"><input type="hidden" name="personType" value="${personType ?? ''}">`}
${field(context, { name: 'name', type: 'text', autocomplete: 'name', inputmode: 'text' })}
${idType(context)}
${field(context, { name: 'idNumber', type: 'text', autocomplete: 'off', inputmode: 'text' })}
${field(context, { name: 'phone', type: 'tel', autocomplete: 'tel', inputmode: 'tel', hint: texts.phoneHint })}
${field(context, { name: 'email', type: 'email', autocomplete: 'email', inputmode: 'email' })}
<p class="field"><label class="choice"><input id="authorize" type="checkbox" name="authorize" value="yes" required${submitted?.values['authorize'] === 'yes' && html` checked`}${invalidAttributes(context, 'authorize')}><span>${texts.authorize}</span></label>${errorText(context, 'authorize')}</p>
<details><summary>${texts.authorization}</summary><p>${authorizationText(context)}</p></details>
<p class="last"><button class="button">${label}</button></p></form>`;
}

function authorizationText({ messages, shop: { organization } }: RenderContext): string {
  return formatMessage(messages.details.authorizationText, {
    shop: organization.name,
    contact: organization.supportContact,
  });
}

/** Error summary at the top with a link to each field, so that screen readers announce the errors first. */
function summary({ messages, submitted }: RenderContext): SafeHtml | null {
  if (!submitted || submitted.invalidFields.length === 0) return null;
  return html`<div class="wrong" role="alert" tabindex="-1" data-focus><strong>${messages.details.wrong}</strong>
<ul>${submitted.invalidFields.map((name) => html`<li><a href="#${name}">${messages.details.errors[name]}</a></li>`)}</ul></div>`;
}

function field(context: RenderContext, { name, type, autocomplete, inputmode, hint }: Field): SafeHtml {
  const { messages, submitted } = context;
  const described = [
    hint === undefined ? '' : `${name}-hint`,
    isInvalid(context, name) ? `${name}-wrong` : '',
  ]
    .filter((id) => id !== '')
    .join(' ');
  return html`<p class="field"><label for="${name}">${messages.details[name]}</label>${hint !== undefined && html`<small id="${name}-hint">${hint}</small>`}
<input id="${name}" name="${name}" type="${type}" inputmode="${inputmode}" autocomplete="${autocomplete}" required maxlength="254" value="${submitted?.values[name] ?? ''}"${
    described !== '' && html` aria-describedby="${described}"`
  }${isInvalid(context, name) && html` aria-invalid="true"`}>${errorText(context, name)}</p>`;
}

function idType(context: RenderContext): SafeHtml {
  const { messages, submitted } = context;
  const chosen = submitted?.values['idType'] ?? 'CO_CC';
  return html`<p class="field"><label for="idType">${messages.details.idType}</label>
<select id="idType" name="idType" required${invalidAttributes(context, 'idType')}>${ID_TYPES.map(
    (type) =>
      html`<option value="${type}"${type === chosen && html` selected`}>${messages.details.idTypes[type]}</option>`,
  )}</select>${errorText(context, 'idType')}</p>`;
}

function isInvalid({ submitted }: RenderContext, name: InvalidField): boolean {
  return submitted?.invalidFields.includes(name) ?? false;
}

function invalidAttributes(context: RenderContext, name: InvalidField): SafeHtml | false {
  return isInvalid(context, name) && html` aria-invalid="true" aria-describedby="${name}-wrong"`;
}

function errorText(context: RenderContext, name: InvalidField): SafeHtml | false {
  return (
    isInvalid(context, name) &&
    html`<span class="error" id="${name}-wrong">${context.messages.details.errors[name]}</span>`
  );
}
