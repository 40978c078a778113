import { html, type SafeHtml } from '../html.ts';
import { fieldsTable } from './fields-table.ts';
import { docsPage } from './layout.ts';
import type { OpenApiDocument, SecuritySchemeObject } from './openapi-types.ts';
import { methodBadge, operationSection } from './operation-section.ts';
import { type OperationGroup, operationGroups } from './operations.ts';
import { inlineProse, prose } from './prose.ts';
import { referenceName } from './references.ts';
import { sharedObjectAnchor, sharedObjects } from './responses-section.ts';
import { fieldsOf } from './schema-fields.ts';
import { shapeOf } from './schema-shape.ts';
import { schemeMarkup } from './security.ts';

function contentsMarkup(groups: readonly OperationGroup[], objects: readonly string[]): SafeHtml {
  return html`${groups.map(
    (group) => html`
<p><a href="#${group.anchor}">${group.name}</a></p>
<ul>${group.operations.map(
      (operation) =>
        html`<li><a href="#${operation.anchor}">${methodBadge(operation.method)}<span>${operation.title}</span></a></li>`,
    )}</ul>`,
  )}${
    objects.length > 0 &&
    html`
<p><a href="#objects">Shared objects</a></p>
<ul>${objects.map((reference) => html`<li><a href="#${sharedObjectAnchor(reference)}">${referenceName(reference)}</a></li>`)}</ul>`
  }`;
}

function credentialMarkup(scheme: SecuritySchemeObject): SafeHtml {
  const { description } = scheme;
  return html`<dd>${schemeMarkup(scheme)}${description !== undefined && html`: ${inlineProse(description)}`}</dd>`;
}

function introMarkup(document: OpenApiDocument, baseUrl: string): SafeHtml {
  const { info, components } = document;
  const schemes = Object.values(components?.securitySchemes ?? {});
  return html`<div class="stack">
<h1>${info.title}</h1>
${info.summary !== undefined && html`<p class="lead">${inlineProse(info.summary)}</p>`}
<div class="prose">${prose(info.description)}</div>
<dl class="facts">
<dt>Version</dt><dd>${info.version}</dd>
<dt>Base address</dt><dd><code>${baseUrl}</code></dd>
<dt>Description</dt><dd><a href="/openapi.json">openapi.json</a>, OpenAPI ${document.openapi}</dd>
${schemes.length > 0 && html`<dt>Credentials</dt>${schemes.map(credentialMarkup)}`}
<dt>Errors</dt><dd>every code, its cause and its remedy: <a href="/docs/errors">the error catalogue</a></dd>
</dl>
</div>`;
}

function groupMarkup(document: OpenApiDocument, group: OperationGroup, baseUrl: string): SafeHtml {
  return html`
<section class="group" id="${group.anchor}" aria-labelledby="${group.anchor}-title">
<h2 id="${group.anchor}-title">${group.name}</h2>
<div class="prose">${prose(group.description)}</div>
${group.operations.map((operation) => operationSection(document, operation, baseUrl))}
</section>`;
}

function objectsMarkup(document: OpenApiDocument, objects: readonly string[]): SafeHtml | false {
  if (objects.length === 0) return false;
  return html`
<section class="group" id="objects" aria-labelledby="objects-title">
<h2 id="objects-title">Shared objects</h2>
${objects.map((reference) => {
  const anchor = sharedObjectAnchor(reference);
  const name = referenceName(reference);
  const rows = fieldsOf(document, { $ref: reference });
  const { schema } = shapeOf(document, { $ref: reference });
  return html`<section class="object" id="${anchor}" aria-labelledby="${anchor}-title">
<h3 id="${anchor}-title">${name}</h3>
<div class="prose">${prose(schema.description)}</div>
${fieldsTable({ caption: `Fields of ${name}`, firstHeading: 'Field', direction: 'response', rows })}
</section>`;
})}
</section>`;
}

/** The whole interface on one page, searchable with the browser's own search. Throws if a `$ref` names nothing. */
export function referencePage(document: OpenApiDocument, options: { readonly baseUrl: string }): string {
  const baseUrl = options.baseUrl.replace(/\/+$/, '');
  const groups = operationGroups(document);
  const objects = sharedObjects(
    document,
    groups.flatMap((group) => group.operations),
  );
  return docsPage({
    language: 'en',
    title: document.info.title,
    description: document.info.summary ?? `Reference of ${document.info.title}`,
    current: 'reference',
    contents: contentsMarkup(groups, objects),
    translated: false,
    main: html`${introMarkup(document, baseUrl)}
${groups.map((group) => groupMarkup(document, group, baseUrl))}
${objectsMarkup(document, objects)}`,
  });
}
