import type { Request } from './attempt.ts';
import { OPERATIONS, type OperationId } from './generated/operations.ts';
import { VERSION } from './generated/version.ts';
import { platformName } from './platform.ts';

export interface Sender {
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** `x-api-key` or `authorization`, and its value. */
  readonly credential: readonly [name: string, value: string];
  readonly language: string | null;
}

export interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
  /** Form body instead of JSON, for the one operation that carries its credential in a form. */
  readonly form?: Readonly<Record<string, string>>;
}

interface RequestOptions {
  readonly idempotencyKey: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const CLIENT = `sdk-js/${VERSION} ${platformName()}`.trim();

/** Built once per call: every retry sends the same bytes. */
export function buildRequest(
  sender: Sender,
  id: OperationId,
  parts: RequestParts,
  options: RequestOptions,
): Request {
  const { method, path } = OPERATIONS[id];
  const content = encodeBody(parts);
  const [credential, secret] = sender.credential;
  return {
    method,
    url: `${sender.baseUrl}${buildPath(path, parts.path ?? {})}${buildQuery(parts.query ?? {})}`,
    headers: {
      accept: 'application/json, application/problem+json',
      'x-caudal-client': CLIENT,
      ...(sender.language === null ? {} : { 'accept-language': sender.language }),
      ...lowerCaseNames(options.headers ?? {}),
      ...(parts.form ? {} : { [credential]: secret }),
      ...(content ? { 'content-type': content.type } : {}),
      ...(options.idempotencyKey === null ? {} : { 'idempotency-key': options.idempotencyKey }),
    },
    ...(content ? { body: content.text } : {}),
  };
}

/** Lower-cases header names: a header in two spellings would be sent with both values. */
function lowerCaseNames(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function encodeBody({ body, form }: RequestParts): { readonly type: string; readonly text: string } | null {
  if (form)
    return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams({ ...form }).toString() };
  return body === undefined ? null : { type: 'application/json', text: JSON.stringify(body) };
}

/** Rejects empty and dot segments, which would address another operation. */
function buildPath(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value: unknown = values[name];
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
      throw new TypeError(`${name} must be a non-empty string`);
    return encodeURIComponent(value);
  });
}

function buildQuery(query: object): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (entries.length === 0) return '';
  const texts = entries.map(([name, value]): [string, string] => [
    name,
    value instanceof Date ? value.toISOString() : String(value),
  ]);
  return `?${new URLSearchParams(texts).toString()}`;
}
