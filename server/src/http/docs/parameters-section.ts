import { html, type SafeHtml } from '../html.ts';
import { fieldsTable } from './fields-table.ts';
import type { HeaderObject, OpenApiDocument, ParameterObject } from './openapi-types.ts';
import type { Operation } from './operations.ts';
import type { FieldRow } from './schema-fields.ts';
import { rulesOf } from './schema-rules.ts';
import { shapeOf, typeName } from './schema-shape.ts';

const PLACES = [
  { place: 'path', title: 'Path parameters' },
  { place: 'query', title: 'Query parameters' },
  { place: 'header', title: 'Headers' },
  { place: 'cookie', title: 'Cookies' },
] as const satisfies readonly { place: ParameterObject['in']; title: string }[];

export function parameterRow(
  document: OpenApiDocument,
  parameter: HeaderObject & { readonly name: string },
): FieldRow {
  const shape = shapeOf(document, parameter.schema ?? true);
  return {
    kind: 'field',
    parent: '',
    name: parameter.name,
    type: typeName(document, shape),
    required: parameter.required === true,
    rules: rulesOf(document, shape),
    description: parameter.description ?? shape.schema.description,
    deprecated: parameter.deprecated === true,
  };
}

export function parametersSection(document: OpenApiDocument, operation: Operation): SafeHtml {
  return html`${PLACES.map(({ place, title }) => {
    const rows = operation.parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => parameterRow(document, parameter));
    if (rows.length === 0) return null;
    return html`<h4>${title}</h4>
${fieldsTable({ caption: `${title} of ${operation.title}`, firstHeading: 'Name', direction: 'request', rows })}`;
  })}`;
}
