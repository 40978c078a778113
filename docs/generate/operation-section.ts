import { STATUS_CODES } from 'node:http';
import type {
  HeaderObject,
  OpenApiDocument,
  ParameterObject,
  RequestBodyObject,
  ResponseObject,
} from '../../server/src/http/docs/openapi-types.ts';
import { ERRORS, type ErrorEntry } from '../../server/src/kit/error-catalogue.ts';
import { credentialText } from './credentials.ts';
import { curlExample, examplesOf, preferredMedia } from './curl-example.ts';
import { fieldsList } from './fields-list.ts';
import { block, code, parts, plain, prose, table } from './markdown.ts';
import type { Operation } from './operations.ts';
import { dereference } from './references.ts';
import { type FieldRow, fieldsOf } from './schema-fields.ts';
import { rulesOf } from './schema-rules.ts';
import { shapeOf, typeName } from './schema-shape.ts';
import { sdkExample } from './sdk-example.ts';

const PLACES = [
  { place: 'path', title: 'In the path' },
  { place: 'query', title: 'Query' },
  { place: 'header', title: 'Headers' },
  { place: 'cookie', title: 'Cookies' },
] as const satisfies readonly { place: ParameterObject['in']; title: string }[];

/** An operation: what it does, how it is called, what it takes and what it answers. */
export function operationSection(document: OpenApiDocument, operation: Operation, baseUrl: string): string {
  const { definition, method, path, title } = operation;
  const body = definition.requestBody && dereference<RequestBodyObject>(document, definition.requestBody);
  const scope = definition['x-scope'];
  return parts(
    `## ${plain(title)}`,
    `**${code(`${method.toUpperCase()} ${path}`)}**${definition.deprecated === true ? ' (deprecated)' : ''}`,
    prose(definition.description),
    `Credential: ${credentialText(document, definition)}.${scope === undefined ? '' : ` Scope: ${code(scope)}.`}`,
    ...requests(document, operation, body, baseUrl),
    parameters(document, operation),
    body && takes(document, body),
    answers(document, operation),
    problems(operation),
  );
}

function requests(
  document: OpenApiDocument,
  operation: Operation,
  body: RequestBodyObject | undefined,
  baseUrl: string,
): readonly string[] {
  const media = preferredMedia(body?.content);
  const examples = media ? examplesOf(document, media[1]) : [];
  const each = examples.length > 0 ? examples : [{ title: undefined, value: undefined }];
  return each.flatMap(({ title, value }) => {
    const sdk = sdkExample(document, operation, value);
    const curl = curlExample(document, operation, baseUrl, media && { mediaType: media[0], value });
    return [
      `### Example${title === undefined ? '' : `: ${plain(title)}`}`,
      block('sh', curl),
      block('ts', sdk),
    ];
  });
}

function parameters(document: OpenApiDocument, operation: Operation): string {
  const sections = PLACES.map(({ place, title }) => {
    const rows = operation.parameters
      .filter((parameter) => parameter.in === place)
      .map((parameter) => parameterRow(document, parameter));
    return rows.length === 0 ? '' : `${title}:\n\n${fieldsList(rows, 'request')}`;
  });
  const shown = parts(...sections);
  return shown === '' ? '' : `### Parameters\n\n${shown}`;
}

function parameterRow(
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

function takes(document: OpenApiDocument, body: RequestBodyObject): string {
  const bodies = Object.entries(body.content).map(([mediaType, media]) => {
    const rows = fieldsOf(document, media.schema ?? true);
    const fields = rows.length === 0 ? '' : fieldsList(rows, 'request');
    return parts(`${code(mediaType)}${body.required === true ? '' : ', optional'}:`, fields);
  });
  return parts('### Body', prose(body.description), ...bodies);
}

function answers(document: OpenApiDocument, { definition }: Operation): string {
  const good = Object.entries(definition.responses ?? {}).filter(([status]) => !/^[45]/.test(status));
  return parts(
    ...good.map(([status, response]) => answer(document, status, dereference(document, response))),
  );
}

function answer(document: OpenApiDocument, status: string, response: ResponseObject): string {
  const media = preferredMedia(response.content);
  const headers = Object.entries(response.headers ?? {}).map(([name, header]) =>
    parameterRow(document, { name, ...dereference(document, header) }),
  );
  const rows = media ? fieldsOf(document, media[1].schema ?? true) : [];
  const examples = media ? examplesOf(document, media[1]) : [];
  return parts(
    `### Answer ${status} ${STATUS_CODES[status] ?? ''}`,
    prose(response.description),
    ...examples.map(({ value }) =>
      typeof value === 'string' ? block('txt', value) : block('json', JSON.stringify(value, null, 2)),
    ),
    media ? rows.length > 0 && fieldsList(rows, 'response') : 'No body.',
    headers.length > 0 && `Headers:\n\n${fieldsList(headers, 'response')}`,
  );
}

function problems({ definition }: Operation): string {
  const codes = definition['x-problem-codes'] ?? [];
  if (codes.length === 0) return '';
  const rows = codes.map((each) => {
    const entry = (ERRORS as Readonly<Record<string, ErrorEntry>>)[each];
    return [
      `[${code(each)}](/docs/errors/${encodeURIComponent(each)})`,
      String(entry?.status ?? ''),
      plain(entry?.title.en ?? ''),
    ];
  });
  return parts('### Problems', table(['Code', 'Status', 'Meaning'], rows));
}
