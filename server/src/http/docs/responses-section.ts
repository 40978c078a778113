import { STATUS_CODES } from 'node:http';
import { html, type SafeHtml } from '../html.ts';
import { codeBlock, jsonMarkup } from './code-block.ts';
import { examplesOf, preferredMedia } from './curl-example.ts';
import { fieldsTable } from './fields-table.ts';
import type { MediaTypeObject, OpenApiDocument, ResponseObject } from './openapi-types.ts';
import { type Operation, slug } from './operations.ts';
import { parameterRow } from './parameters-section.ts';
import { inlineProse } from './prose.ts';
import { dereference, referenceName } from './references.ts';
import { fieldsOf } from './schema-fields.ts';
import { shapeOf, typeName } from './schema-shape.ts';

function isFailure(status: string): boolean {
  return /^[45]/.test(status);
}

/** The component a failure answers with. Nearly all share one, so its fields are shown once, at the page's end. */
function sharedObject(status: string, media: MediaTypeObject | undefined): string | undefined {
  if (!isFailure(status) || typeof media?.schema !== 'object') return undefined;
  return media.schema.$ref;
}

export function sharedObjectAnchor(reference: string): string {
  return `object-${slug(referenceName(reference))}`;
}

export function sharedObjects(
  document: OpenApiDocument,
  operations: readonly Operation[],
): readonly string[] {
  const references = operations.flatMap(({ definition }) =>
    Object.entries(definition.responses ?? {}).flatMap(([status, response]) => {
      const media = preferredMedia(dereference(document, response).content);
      return sharedObject(status, media?.[1]) ?? [];
    }),
  );
  return [...new Set(references)];
}

function tone(status: string): string {
  if (status.startsWith('2')) return 'success';
  if (status.startsWith('4')) return 'warning';
  return status.startsWith('5') ? 'danger' : '';
}

function bodyMarkup(
  document: OpenApiDocument,
  status: string,
  mediaType: string,
  media: MediaTypeObject,
): SafeHtml {
  const reference = sharedObject(status, media);
  const rows = reference === undefined ? fieldsOf(document, media.schema ?? true) : [];
  const type =
    reference === undefined ? typeName(document, shapeOf(document, media.schema ?? true)) : undefined;
  const caption = `Fields of the ${status} response`;
  return html`<p class="muted">Body: <code>${mediaType}</code>${
    reference === undefined
      ? rows.length === 0 && html`, <code>${type}</code>`
      : html`, fields of <a href="#${sharedObjectAnchor(reference)}">${referenceName(reference)}</a>`
  }</p>
${rows.length > 0 && fieldsTable({ caption, firstHeading: 'Field', direction: 'response', rows })}
${examplesOf(document, media).map(({ title, value }) =>
  codeBlock({
    label: title === undefined ? `Example response, ${status}` : `Example response, ${status}: ${title}`,
    code: typeof value === 'string' ? value : jsonMarkup(value),
  }),
)}`;
}

function responseMarkup(document: OpenApiDocument, status: string, response: ResponseObject): SafeHtml {
  const media = preferredMedia(response.content);
  const headers = Object.entries(response.headers ?? {}).map(([name, header]) =>
    parameterRow(document, { name, ...dereference(document, header) }),
  );
  const caption = `Headers of the ${status} response`;
  return html`<details class="answer"${status.startsWith('2') && html` open`}>
<summary><span class="chip ${tone(status)}">${status} ${STATUS_CODES[status]}</span> ${inlineProse(response.description)}</summary>
<div class="stack">${headers.length > 0 && fieldsTable({ caption, firstHeading: 'Header', direction: 'response', rows: headers })}
${media === undefined ? html`<p class="muted">No body.</p>` : bodyMarkup(document, status, ...media)}</div></details>`;
}

export function responsesSection(document: OpenApiDocument, operation: Operation): SafeHtml {
  const responses = Object.entries(operation.definition.responses ?? {});
  if (responses.length === 0) return html``;
  return html`<h4>Responses</h4>
<div>${responses.map(([status, response]) => responseMarkup(document, status, dereference(document, response)))}</div>`;
}
