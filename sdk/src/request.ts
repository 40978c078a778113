import type { Request } from './attempt.ts';
import { OPERATIONS, type OperationId } from './generated/operations.ts';
import { VERSION } from './generated/version.ts';
import { platformName } from './platform.ts';

export interface Sender {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** `x-api-key` or `authorization`, and its value. */
  readonly credential: readonly [name: string, value: string];
  readonly language: string | null;
}

export interface RequestParts {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: object;
  readonly body?: unknown;
  /** Instead of a body, for the one operation that takes a form and carries its credential in it. */
  readonly form?: Readonly<Record<string, string>>;
}

interface RequestOptions {
  readonly idempotencyKey: string | null;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

const CLIENT = `sdk-js/${VERSION} ${platformName()}`.trim();

/** Made once for a call: every repeat sends the same bytes. */
export function requestOf(
  sender: Sender,
  id: OperationId,
  parts: RequestParts,
  options: RequestOptions,
): Request {
  const { method, path } = OPERATIONS[id];
  const content = contentOf(parts);
  const [credential, secret] = sender.credential;
  return {
    method,
    url: `${sender.baseUrl}${pathOf(path, parts.path ?? {})}${queryOf(parts.query ?? {})}`,
    headers: {
      accept: 'application/json, application/problem+json',
      'x-caudal-client': CLIENT,
      ...(sender.language === null ? {} : { 'accept-language': sender.language }),
      ...lowered(options.headers ?? {}),
      ...(parts.form ? {} : { [credential]: secret }),
      ...(content ? { 'content-type': content.type } : {}),
      ...(options.idempotencyKey === null ? {} : { 'idempotency-key': options.idempotencyKey }),
    },
    ...(content ? { body: content.text } : {}),
  };
}

/** In one spelling: two of one header would be sent as one with both values. */
function lowered(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function contentOf({ body, form }: RequestParts): { readonly type: string; readonly text: string } | null {
  if (form)
    return { type: 'application/x-www-form-urlencoded', text: new URLSearchParams({ ...form }).toString() };
  return body === undefined ? null : { type: 'application/json', text: JSON.stringify(body) };
}

/** An empty part, or one of dots, would lead to another operation. */
function pathOf(template: string, values: Readonly<Record<string, string>>): string {
  return template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value: unknown = values[name];
    if (typeof value !== 'string' || /^\.{0,2}$/.test(value))
      throw new TypeError(`${name} must be a text that is not empty`);
    return encodeURIComponent(value);
  });
}

function queryOf(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  if (given.length === 0) return '';
  const texts = given.map(([name, value]): [string, string] => [
    name,
    value instanceof Date ? value.toISOString() : String(value),
  ]);
  return `?${new URLSearchParams(texts).toString()}`;
}
