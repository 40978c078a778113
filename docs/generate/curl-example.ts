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
import { resolveShape } from './schema-shape.ts';

export interface NamedExample {
  readonly title: string | undefined;
  readonly value: unknown;
}

/** The `example` of the media type, its named `examples`, or the example of its schema. */
export function listExamples(document: OpenApiDocument, media: MediaTypeObject): readonly NamedExample[] {
  if (media.example !== undefined) return [{ title: undefined, value: media.example }];
  const named = Object.entries(media.examples ?? {});
  if (named.length > 0) {
    return named.map(([name, reference]) => {
      const example = dereference<ExampleObject>(document, reference);
      return { title: example.summary ?? name, value: example.value };
    });
  }
  if (media.schema === undefined) return [];
  const { schema } = resolveShape(document, media.schema);
  const value = schema.example ?? schema.examples?.[0];
  return value === undefined ? [] : [{ title: undefined, value }];
}

/** The preferred media type: JSON if available. */
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

// An optional parameter is included only if the parameter itself has an example: examples of schemas would fill the
// command with filters that together match nothing.
function parameterExample(document: OpenApiDocument, parameter: ParameterObject): unknown {
  if (parameter.example !== undefined || parameter.required !== true) return parameter.example;
  const { schema } = resolveShape(document, parameter.schema ?? true);
  return schema.example ?? schema.examples?.[0];
}

function exampleUrl(document: OpenApiDocument, operation: Operation, baseUrl: string): string {
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

// JSON values contain no raw line break, so the added spaces never change one.
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

/** A key of its own for each example of a page: with the same key, the second one would be rejected. */
function idempotencyKey({ name }: ParameterObject, body: unknown): string | undefined {
  if (name !== 'Idempotency-Key' || typeof body !== 'object' || body === null) return undefined;
  const { reference } = body as { readonly reference?: unknown };
  return typeof reference === 'string' ? `${reference}-attempt` : undefined;
}

/** A curl command to paste into a shell. `body` is one of the examples of the request body. */
export function curlExample(
  document: OpenApiDocument,
  operation: Operation,
  baseUrl: string,
  body?: { readonly mediaType: string; readonly value: unknown },
): string {
  const headers = operation.parameters.flatMap((parameter) => {
    if (parameter.in !== 'header') return [];
    const example = idempotencyKey(parameter, body?.value) ?? parameterExample(document, parameter);
    return example === undefined ? [] : [`-H ${quoted(`${parameter.name}: ${plain(example)}`)}`];
  });
  const method = operation.method === 'get' ? '' : ` -X ${operation.method.toUpperCase()}`;
  const streams = Object.values(operation.definition.responses ?? {}).some(
    (response) => dereference(document, response).content?.['text/event-stream'] !== undefined,
  );
  return [
    `curl${streams ? ' -N' : ''}${method} ${quoted(exampleUrl(document, operation, baseUrl))}`,
    ...curlCredentials(document, operation.definition),
    ...headers,
    ...(body === undefined ? [] : bodyOptions(body.mediaType, body.value)),
  ].join(' \\\n  ');
}
