import { html, type SafeHtml } from '../html.ts';
import { codeBlock } from './code-block.ts';
import { curlExample, examplesOf, preferredMedia } from './curl-example.ts';
import { fieldsTable } from './fields-table.ts';
import type { HttpMethod, OpenApiDocument, RequestBodyObject } from './openapi-types.ts';
import type { Operation } from './operations.ts';
import { parametersSection } from './parameters-section.ts';
import { inlineProse, prose } from './prose.ts';
import { dereference } from './references.ts';
import { responsesSection } from './responses-section.ts';
import { fieldsOf } from './schema-fields.ts';
import { securityMarkup } from './security.ts';

export function methodBadge(method: HttpMethod): SafeHtml {
  return html`<span class="method ${method}">${method.toUpperCase()}</span>`;
}

function factsMarkup(document: OpenApiDocument, { definition }: Operation): SafeHtml {
  const scope = definition['x-scope'];
  return html`<dl class="facts">
<dt>Authentication</dt><dd>${securityMarkup(document, definition)}</dd>
${scope !== undefined && html`<dt>Required scope</dt><dd><code>${scope}</code></dd>`}
</dl>`;
}

function requestBodyMarkup(
  document: OpenApiDocument,
  operation: Operation,
  body: RequestBodyObject,
): SafeHtml {
  return html`<h4>Request body</h4>
${body.description !== undefined && html`<p>${inlineProse(body.description)}</p>`}
${Object.entries(body.content).map(([mediaType, media]) => {
  const rows = fieldsOf(document, media.schema ?? true);
  const caption = `Request body of ${operation.title}`;
  return html`<p class="muted"><code>${mediaType}</code>${body.required !== true && ', optional'}</p>
${rows.length > 0 && fieldsTable({ caption, firstHeading: 'Field', direction: 'request', rows })}`;
})}`;
}

function curlMarkup(
  document: OpenApiDocument,
  operation: Operation,
  body: RequestBodyObject | undefined,
  baseUrl: string,
): SafeHtml {
  const media = preferredMedia(body?.content);
  const block = (code: string, title?: string) =>
    codeBlock({
      label: title === undefined ? 'Example request' : `Example request: ${title}`,
      code,
      selectsWhole: true,
    });
  if (media === undefined) return block(curlExample(document, operation, baseUrl));
  const [mediaType, content] = media;
  const examples = examplesOf(document, content);
  if (examples.length === 0)
    return block(curlExample(document, operation, baseUrl, { mediaType, value: undefined }));
  return html`${examples.map(({ title, value }) =>
    block(curlExample(document, operation, baseUrl, { mediaType, value }), title),
  )}`;
}

function problemCodesMarkup({ definition }: Operation): SafeHtml {
  const codes = definition['x-problem-codes'] ?? [];
  if (codes.length === 0) return html``;
  return html`<h4>Problem codes</h4>
<ul class="codes">${codes.map((code) => html`<li><a href="/docs/errors/${encodeURIComponent(code)}"><code>${code}</code></a></li>`)}</ul>`;
}

export function operationSection(document: OpenApiDocument, operation: Operation, baseUrl: string): SafeHtml {
  const { anchor, definition, method, path, title } = operation;
  const body = definition.requestBody && dereference<RequestBodyObject>(document, definition.requestBody);
  return html`<section class="op" id="${anchor}" aria-labelledby="${anchor}-title">
<h3 id="${anchor}-title">${title}${definition.deprecated === true && html` <span class="chip warning">deprecated</span>`} <a class="self" href="#${anchor}" aria-label="Link to ${title}">#</a></h3>
<p class="endpoint">${methodBadge(method)} <code>${path}</code></p>
<div class="prose">${prose(definition.description)}</div>
${factsMarkup(document, operation)}
${curlMarkup(document, operation, body, baseUrl)}
${parametersSection(document, operation)}
${body !== undefined && requestBodyMarkup(document, operation, body)}
${responsesSection(document, operation)}
${problemCodesMarkup(operation)}
</section>`;
}
