import type {
  ContentMap,
  ExampleObject,
  MediaTypeObject,
  OpenApiDocument,
  ParameterObject,
} from '../../server/src/http/docs/openapi-types.ts';
import { curlCredentials } from './credentials.ts';
import type { Operation } from './operations.ts';
import { dereference } from './references.ts';
import { shapeOf } from './schema-shape.ts';

export interface NamedExample {
  readonly title: string | undefined;
  readonly value: unknown;
}

/** `example` of the media type, or its named `examples`, or else the one its schema carries. */
export function examplesOf(document: OpenApiDocument, media: MediaTypeObject): readonly NamedExample[] {
  if (media.example !== undefined) return [{ title: undefined, value: media.example }];
  const named = Object.entries(media.examples ?? {});
  if (named.length > 0) {
    return named.map(([name, reference]) => {
      const example = dereference<ExampleObject>(document, reference);
      return { title: example.summary ?? name, value: example.value };
    });
  }
  if (media.schema === undefined) return [];
  const { schema } = shapeOf(document, media.schema);
  const value = schema.example ?? schema.examples?.[0];
  return value === undefined ? [] : [{ title: undefined, value }];
}

/** The media type a page shows first: JSON where there is a choice. */
export function preferredMedia(
  content: ContentMap | undefined,
): readonly [string, MediaTypeObject] | undefined {
  const entries = Object.entries(content ?? {});
  return entries.find(([name]) => name === 'application/json') ?? entries[0];
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

// An optional parameter goes into the command only where the document gives the parameter itself an example: one
// that merely documents its schema would fill the command with filters that together match nothing.
function parameterExample(document: OpenApiDocument, parameter: ParameterObject): unknown {
  if (parameter.example !== undefined || parameter.required !== true) return parameter.example;
  const { schema } = shapeOf(document, parameter.schema ?? true);
  return schema.example ?? schema.examples?.[0];
}

function addressOf(document: OpenApiDocument, operation: Operation, baseUrl: string): string {
  let path = operation.path;
  const query = new URLSearchParams();
  for (const parameter of operation.parameters) {
    const example = parameterExample(document, parameter);
    if (example === undefined) continue;
    if (parameter.in === 'path') {
      path = path.replaceAll(`{${parameter.name}}`, encodeURIComponent(plain(example)));
    } else if (parameter.in === 'query') {
      query.append(parameter.name, plain(example));
    }
  }
  const search = query.size === 0 ? '' : `?${query.toString()}`;
  return `${baseUrl}${path}${search}`;
}

// JSON holds no raw line break inside a value, so the extra spaces never end up in one.
function indented(body: unknown): string {
  return JSON.stringify(body, null, 2).replaceAll('\n', '\n  ');
}

function bodyOptions(mediaType: string, body: unknown): readonly string[] {
  if (body === undefined) return [`-H ${quoted(`Content-Type: ${mediaType}`)}`, '--data @body.json'];
  if (mediaType === 'application/x-www-form-urlencoded') {
    const fields = typeof body === 'object' && body !== null ? Object.entries(body) : [];
    return fields.map(([name, value]) => `--data-urlencode ${quoted(`${name}=${plain(value)}`)}`);
  }
  return [
    `-H ${quoted(`Content-Type: ${mediaType}`)}`,
    `--data ${quoted(typeof body === 'string' ? body : indented(body))}`,
  ];
}

/** A command to paste into a shell. `body` is one of the examples of the request body, if it has any. */
export function curlExample(
  document: OpenApiDocument,
  operation: Operation,
  baseUrl: string,
  body?: { readonly mediaType: string; readonly value: unknown },
): string {
  const headers = operation.parameters.flatMap((parameter) => {
    const example = parameter.in === 'header' ? parameterExample(document, parameter) : undefined;
    return example === undefined ? [] : [`-H ${quoted(`${parameter.name}: ${plain(example)}`)}`];
  });
  const method = operation.method === 'get' ? '' : ` -X ${operation.method.toUpperCase()}`;
  const streams = Object.values(operation.definition.responses ?? {}).some(
    (response) => dereference(document, response).content?.['text/event-stream'] !== undefined,
  );
  return [
    `curl${streams ? ' -N' : ''}${method} ${quoted(addressOf(document, operation, baseUrl))}`,
    ...curlCredentials(document, operation.definition),
    ...headers,
    ...(body === undefined ? [] : bodyOptions(body.mediaType, body.value)),
  ].join(' \\\n  ');
}
