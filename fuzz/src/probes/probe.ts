import type { Operation, Parameter } from '../document/openapi.ts';
import type { Context } from '../generate/context.ts';
import { valueKinds } from '../generate/parameters.ts';
import type { FuzzRequest } from '../generate/request.ts';
import { SPELLINGS } from '../generate/spelling.ts';
import { validBody } from '../generate/valid.ts';
import type { Tenant } from '../tenants/tenant.ts';
import { type BodyField, bodyFields, setField } from './body-fields.ts';
import { unknownLike } from './unknown-value.ts';

/** A request with a value of another organization, and the same request with a value that does not exist. */
export interface Probe {
  readonly operation: Operation;
  /** Where the value stands: `path id`, `query cursor`, `body breb.lookupId`. */
  readonly place: string;
  readonly value: string;
  readonly foreign: FuzzRequest;
  readonly unknown: FuzzRequest;
  /** Compares only status and members: each of the two requests creates a resource. */
  readonly creates: boolean;
}

export interface ProbeSource {
  readonly context: Context;
  readonly credential: readonly [string, string];
  /** Values per parameter. */
  readonly count: number;
}

type Write = (text: string) => FuzzRequest;

export function probesOf(source: ProbeSource, operation: Operation): Probe[] {
  return [
    ...operation.parameters.flatMap((parameter) => parameterProbes(source, operation, parameter)),
    ...(operation.body ? bodyProbes(source, operation) : []),
  ];
}

/** A Bre-B key is public: anybody may look up who receives money sent to it. */
function isPublic(operation: Operation, { name, in: where }: Parameter): boolean {
  return where === 'path' && name === 'keyString' && operation.segments[0] === 'breb';
}

function parameterProbes(source: ProbeSource, operation: Operation, parameter: Parameter): Probe[] {
  const { name, in: where } = parameter;
  if (isPublic(operation, parameter)) return [];
  const values = foreignValues(source, operation, parameter);
  return values.flatMap((value) =>
    (where === 'header' ? [asIs] : SPELLINGS).map((spelling) => {
      const write: Write = (text) => requestWith(source, operation, parameter, spelling(text));
      const other = unknownLike(source.context.random, value);
      return {
        operation,
        place: `${where} ${name}`,
        value,
        foreign: write(value),
        unknown: write(other),
        creates: name === 'Idempotency-Key',
      };
    }),
  );
}

const asIs = (value: string) => value;

/** The other organization's values that fit a parameter; none for filters such as `status`. */
function foreignValues(
  { context: { other }, count }: ProbeSource,
  operation: Operation,
  parameter: Parameter,
): string[] {
  const { name, schema, in: where } = parameter;
  if (name === 'reference') return other.references.values.slice(0, count);
  if (name === 'Idempotency-Key') return other.idempotencyKeys.values.filter(isUsable).slice(0, count);
  if (name === 'keyString') return other.pool('keyString').values.filter(isOwnKey).slice(0, count);
  const isId = where === 'path' || schema.format === 'uuid' || name === 'cursor' || name === 'Last-Event-ID';
  if (!isId) return [];
  return valueKinds(operation, parameter)
    .flatMap((kind) => other.pool(kind).values.slice(0, count))
    .slice(0, count);
}

function isUsable(key: string): boolean {
  return /^[\w-]+$/.test(key);
}

function isOwnKey(key: string): boolean {
  return key.startsWith('@CDL');
}

function requestWith(
  source: ProbeSource,
  operation: Operation,
  parameter: Parameter,
  text: string,
): FuzzRequest {
  const { context } = source;
  const path = operation.segments
    .map((segment) => {
      const name = /^\{(.+)\}$/.exec(segment)?.[1];
      if (name === undefined) return segment;
      if (parameter.in === 'path' && name === parameter.name) return text;
      return ownSegment(context.tenant, operation, name);
    })
    .join('/');
  const query = parameter.in === 'query' ? `?${parameter.name}=${text}` : '';
  const body = operation.body ? Buffer.from(JSON.stringify(validBody(context, operation.body))) : null;
  const extra = parameter.in === 'header' ? ([[parameter.name.toLowerCase(), text]] as const) : [];
  return toRequest(source, operation, `/${path}${query}`, extra, body);
}

function ownSegment(tenant: Tenant, operation: Operation, name: string): string {
  const parameter = operation.parameters.find((each) => each.in === 'path' && each.name === name);
  const kinds = parameter ? valueKinds(operation, parameter) : [];
  return kinds.flatMap((kind) => tenant.pool(kind).values)[0] ?? '019b0000-0000-7000-8010-000000000000';
}

function toRequest(
  { context, credential }: ProbeSource,
  operation: Operation,
  target: string,
  extra: FuzzRequest['headers'],
  body: Buffer | null,
): FuzzRequest {
  return {
    index: context.index,
    subject: operation.id,
    method: operation.method,
    target,
    headers: [
      ['host', 'caudal.test'],
      ...(operation.forMerchants ? [credential] : []),
      ...(body && operation.body ? ([['content-type', operation.body.type]] as const) : []),
      ...extra,
    ],
    body,
    tenant: context.tenant.name,
  };
}

function bodyProbes(source: ProbeSource, operation: Operation): Probe[] {
  const { context, count } = source;
  const { body } = operation;
  if (!body) return [];
  return bodyFields(context.document, body.schema).flatMap((field) =>
    bodyValues(context.other, field, count).flatMap((value) =>
      SPELLINGS.map((spelling) => {
        const example = validBody({ ...context, random: context.random }, body);
        const write: Write = (text) => {
          const changed = setField(structuredClone(example), field.path, decoded(spelling(text)));
          const isJson = body.type === 'application/json';
          const bytes = isJson
            ? JSON.stringify(changed)
            : new URLSearchParams(changed as Record<string, string>).toString();
          return toRequest(source, operation, operation.path, [], Buffer.from(bytes));
        };
        const unknown = unknownLike(context.random, value);
        return {
          operation,
          place: `body ${field.path.join('.')}`,
          value,
          foreign: write(value),
          unknown: write(unknown),
          creates: field.kind === 'reference',
        };
      }),
    ),
  );
}

function bodyValues(other: Tenant, { kind, path }: BodyField, count: number): readonly string[] {
  if (kind === 'reference') return other.references.values.slice(0, count);
  if (kind === 'client') return [other.keyId];
  const name = path.at(-1) ?? '';
  const pool = name === 'after' ? 'events' : name;
  return other.pool(pool).values.slice(0, count);
}

/** A spelling is written for a URL; a body carries the characters themselves. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
