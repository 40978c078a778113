import { type HtmlValue, html, type SafeHtml } from '../html.ts';
import { inlineProse } from './prose.ts';
import type { FieldRow, VariantRow } from './schema-fields.ts';
import type { Rule } from './schema-rules.ts';

/** "Required" is a duty of whoever writes a request, and a promise to whoever reads a response. */
type Direction = 'request' | 'response';

const PRESENCE = {
  request: { heading: 'Required', yes: 'required', emphasis: 'must', no: 'optional' },
  response: { heading: 'Present', yes: 'always', emphasis: 'will', no: 'sometimes' },
} as const;

interface FieldsTable {
  readonly caption: string;
  readonly firstHeading: string;
  readonly direction: Direction;
  readonly rows: readonly (FieldRow | VariantRow)[];
}

export function fieldsTable({ caption, firstHeading, direction, rows }: FieldsTable): SafeHtml {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}">
<table class="fields"><caption>${caption}</caption>
<thead><tr><th scope="col">${firstHeading}</th><th scope="col">Type</th><th scope="col">${PRESENCE[direction].heading}</th><th scope="col">Description and rules</th></tr></thead>
<tbody>${rows.map((row) => (row.kind === 'field' ? fieldMarkup(row, direction) : variantMarkup(row)))}</tbody></table></div>`;
}

function variantMarkup(row: VariantRow): SafeHtml {
  return html`
<tr class="variant"><th scope="rowgroup" colspan="4">${row.parent !== '' && html`<code>${row.parent.replace(/\.$/, '')}</code>: `}${row.label}</th></tr>`;
}

// Long names may break after a joint, and nowhere else, in the narrow column of a phone.
function breakable(parent: string): HtmlValue {
  return parent.split(/(?<=\.)/).map((part) => html`${part}<wbr>`);
}

function fieldMarkup(row: FieldRow, direction: Direction): SafeHtml {
  const { emphasis, yes, no } = PRESENCE[direction];
  return html`
<tr><th scope="row"><code class="name">${row.parent !== '' && html`<span>${breakable(row.parent)}</span>`}${row.name}</code>${row.deprecated && html` <span class="chip warning">deprecated</span>`}</th>
<td><code class="type">${row.type}</code></td>
<td>${row.required ? html`<span class="${emphasis}">${yes}</span>` : html`<span class="muted">${no}</span>`}</td>
<td>${row.description !== undefined && html`<div>${inlineProse(row.description)}</div>`}${row.rules.length > 0 && html`<ul class="rules">${row.rules.map(ruleMarkup)}</ul>`}</td></tr>`;
}

function ruleMarkup(rule: Rule): SafeHtml {
  return html`<li>${rule.words}${rule.literals.map((literal) => html` <code>${literal}</code>`)}</li>`;
}
