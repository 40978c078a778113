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
import { curlExample, listExamples, preferredMedia } from './curl-example.ts';
import { fieldsList } from './fields-list.ts';
import { block, code, parts, plain, prose, table } from './markdown.ts';
import type { Operation } from './operations.ts';
import { dereference } from './references.ts';
import { type FieldRow, listFields } from './schema-fields.ts';
import { listRules } from './schema-rules.ts';
import { resolveShape, typeName } from './schema-shape.ts';
import { sdkExample } from './sdk-example.ts';

const PARAMETER_LOCATIONS = [
  { location: 'path', title: 'Path' },
  { location: 'query', title: 'Query' },
  { location: 'header', title: 'Headers' },
  { location: 'cookie', title: 'Cookies' },
] as const satisfies readonly { location: ParameterObject['in']; title: string }[];

/** The section of an operation: description, examples, parameters, body, responses and problems. */
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
    body && requestBody(document, body),
    responses(document, operation),
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
  const examples = media ? listExamples(document, media[1]) : [];
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
  const sections = PARAMETER_LOCATIONS.map(({ location, title }) => {
    const rows = operation.parameters
      .filter((parameter) => parameter.in === location)
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
  const shape = resolveShape(document, parameter.schema ?? true);
  return {
    kind: 'field',
    parent: '',
    name: parameter.name,
    type: typeName(document, shape),
    required: parameter.required === true,
    rules: listRules(document, shape),
    description: parameter.description ?? shape.schema.description,
    deprecated: parameter.deprecated === true,
  };
}

function requestBody(document: OpenApiDocument, body: RequestBodyObject): string {
  const bodies = Object.entries(body.content).map(([mediaType, media]) => {
    const rows = listFields(document, media.schema ?? true);
    const fields = rows.length === 0 ? '' : fieldsList(rows, 'request');
    return parts(`${code(mediaType)}${body.required === true ? '' : ', optional'}:`, fields);
  });
  return parts('### Body', prose(body.description), ...bodies);
}

function responses(document: OpenApiDocument, { definition }: Operation): string {
  const good = Object.entries(definition.responses ?? {}).filter(([status]) => !/^[45]/.test(status));
  return parts(
    ...good.map(([status, response]) => responseSection(document, status, dereference(document, response))),
  );
}

function responseSection(document: OpenApiDocument, status: string, response: ResponseObject): string {
  const media = preferredMedia(response.content);
  const headers = Object.entries(response.headers ?? {}).map(([name, header]) =>
    parameterRow(document, { name, ...dereference(document, header) }),
  );
  const rows = media ? listFields(document, media[1].schema ?? true) : [];
  const examples = media ? listExamples(document, media[1]) : [];
  return parts(
    `### Response ${status} ${STATUS_CODES[status] ?? ''}`,
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
