import { ID_TYPES } from '../../customers/customer.ts';
import { html, type SafeHtml } from '../html.ts';
import { formatMessage } from './messages.ts';
import { bankName, type InvalidField, PAYER_FORM_ID, type RenderContext } from './render-context.ts';
import type { Screen } from './screen.ts';

type Details = Extract<Screen, { kind: 'details' }>;

interface Field {
  readonly name: 'name' | 'idNumber' | 'phone' | 'email';
  readonly label: string;
  readonly type: 'text' | 'tel' | 'email';
  readonly autocomplete: string;
  readonly inputmode: 'text' | 'numeric' | 'tel' | 'email';
  readonly error: string;
  readonly hint?: string;
}

export function detailsScreen(context: RenderContext, { bank, personType }: Details): SafeHtml {
  const { messages, path, form, state } = context;
  const isPayinPage = state.link === null;
  const texts = messages.details;
  const isCompany = personType === 'BUSINESS';
  return html`<h1>${isCompany ? texts.companyTitle : texts.title}</h1><p>${texts.about}</p>${summary(context, isCompany)}
<form id="${PAYER_FORM_ID}" method="post" action="${path}/${isPayinPage ? 'payer' : 'begin'}" data-draft="${path}" novalidate>
${!isPayinPage && html`<input type="hidden" name="method" value="PSE"><input type="hidden" name="bank" value="${bank}"><input type="hidden" name="personType" value="${personType}">`}
${fields(context, isCompany)}
<p class="field"><label class="choice"><input id="authorize" type="checkbox" name="authorize" value="yes" required${form.values['authorize'] === 'yes' && html` checked`}${invalidAttributes(context, 'authorize')}><span>${texts.authorize}</span></label>${errorText(context, 'authorize', texts.errors.authorize)}</p>
<details><summary>${texts.authorization}</summary><p>${authorizationText(context)}</p></details>
<p class="last"><button class="button">${formatMessage(texts.goToBank, { bank: bankName(bank) })}</button></p></form>`;
}

function fields(context: RenderContext, isCompany: boolean): SafeHtml {
  const texts = context.messages.details;
  const errors = fieldErrors(context, isCompany);
  const name = { name: 'name', type: 'text', inputmode: 'text', error: errors.name } as const;
  const idNumber = { name: 'idNumber', type: 'text', autocomplete: 'off', error: errors.idNumber } as const;
  return html`${field(context, isCompany ? { ...name, label: texts.companyName, autocomplete: 'organization' } : { ...name, label: texts.name, autocomplete: 'name' })}
${!isCompany && idType(context)}
${field(
  context,
  isCompany
    ? { ...idNumber, label: texts.nit, inputmode: 'numeric', hint: texts.nitHint }
    : // The script selects the keyboard by document type: without it, passports must remain typeable.
      { ...idNumber, label: texts.idNumber, inputmode: 'text' },
)}
${field(context, { name: 'phone', label: texts.phone, type: 'tel', autocomplete: 'tel', inputmode: 'tel', hint: texts.phoneHint, error: errors.phone })}
${field(context, { name: 'email', label: texts.email, type: 'email', autocomplete: 'email', inputmode: 'email', hint: texts.emailHint, error: errors.email })}`;
}

function fieldErrors(
  { messages }: RenderContext,
  isCompany: boolean,
): Readonly<Record<InvalidField, string>> {
  const { companyName, nit, ...errors } = messages.details.errors;
  return isCompany ? { ...errors, name: companyName, idNumber: nit } : errors;
}

function authorizationText({ messages, shop: { organization } }: RenderContext): string {
  return formatMessage(messages.details.authorizationText, {
    shop: organization.name,
    contact: organization.supportContact,
  });
}

/** Error summary at the top with a link to each field, so that screen readers announce the errors first. */
function summary(context: RenderContext, isCompany: boolean): SafeHtml | null {
  const { messages, form } = context;
  if (form.invalidFields.length === 0) return null;
  const errors = fieldErrors(context, isCompany);
  return html`<div class="wrong" role="alert" tabindex="-1" data-focus><strong>${messages.details.wrong}</strong>
<ul>${form.invalidFields.map((name) => html`<li><a href="#${name}">${errors[name]}</a></li>`)}</ul></div>`;
}

function field(context: RenderContext, { name, label, error, hint, ...input }: Field): SafeHtml {
  const described = [
    hint === undefined ? '' : `${name}-hint`,
    isInvalid(context, name) ? `${name}-wrong` : '',
  ]
    .filter((id) => id !== '')
    .join(' ');
  return html`<p class="field"><label for="${name}">${label}</label>${hint !== undefined && html`<small id="${name}-hint">${hint}</small>`}
<input id="${name}" name="${name}" type="${input.type}" inputmode="${input.inputmode}" autocomplete="${input.autocomplete}" required maxlength="254" value="${context.form.values[name] ?? ''}"${
    described !== '' && html` aria-describedby="${described}"`
  }${isInvalid(context, name) && html` aria-invalid="true"`}>${errorText(context, name, error)}</p>`;
}

function idType(context: RenderContext): SafeHtml {
  const { messages, form } = context;
  const chosen = form.values['idType'] ?? 'CO_CC';
  return html`<p class="field"><label for="idType">${messages.details.idType}</label>
<select id="idType" name="idType" required${invalidAttributes(context, 'idType')}>${ID_TYPES.map(
    (type) =>
      html`<option value="${type}"${type === chosen && html` selected`}>${messages.details.idTypes[type]}</option>`,
  )}</select>${errorText(context, 'idType', messages.details.errors.idType)}</p>`;
}

function isInvalid({ form }: RenderContext, name: InvalidField): boolean {
  return form.invalidFields.includes(name);
}

function invalidAttributes(context: RenderContext, name: InvalidField): SafeHtml | false {
  return isInvalid(context, name) && html` aria-invalid="true" aria-describedby="${name}-wrong"`;
}

function errorText(context: RenderContext, name: InvalidField, error: string): SafeHtml | false {
  return isInvalid(context, name) && html`<span class="error" id="${name}-wrong">${error}</span>`;
}
