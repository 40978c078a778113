import { randomFrom } from '../../../chaos/src/run/random.ts';
import type { Body, OpenApi, Operation, Parameter } from '../document/openapi.ts';
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
  /** Compares only status and members: each of the two requests changes something, so their bodies differ. */
  readonly changes: boolean;
}

export interface ProbeSource {
  readonly context: Context;
  readonly credential: readonly [string, string];
  /** Values per parameter. */
  readonly count: number;
  /** Number of the run. Each run takes other values where a request stores them: the next would find its own resource. */
  readonly run: number;
}

/** Numbers the requests that create something, so that each has its own reference. */
let requests = 1_000_000_000;

export function probesOf(source: ProbeSource, operation: Operation): Probe[] {
  return [
    ...operation.parameters.flatMap((parameter) => parameterProbes(source, operation, parameter)),
    ...(operation.body ? bodyProbes(source, operation) : []),
  ];
}

/** All places of an operation that can name something of another organization. */
export function placesOf(document: OpenApi, operation: Operation): string[] {
  const parameters = operation.parameters.filter(
    (parameter) =>
      !isPublic(operation, parameter) && !endsOnce(operation, parameter) && canNameResource(parameter),
  );
  const fields = operation.body ? bodyFields(document, operation.body.schema) : [];
  return [
    ...parameters.map(({ in: where, name }) => `${operation.id}, ${where} ${name}`),
    ...fields.map(({ path }) => `${operation.id}, body ${path.join('.')}`),
  ];
}

const NAMED = ['reference', 'Idempotency-Key', 'keyString', 'cursor', 'Last-Event-ID'];

function canNameResource({ name, in: where, schema }: Parameter): boolean {
  return where === 'path' || schema.format === 'uuid' || NAMED.includes(name);
}

/** A Bre-B key is public: anybody may look up who receives money sent to it. */
function isPublic(operation: Operation, { name, in: where }: Parameter): boolean {
  return where === 'path' && name === 'keyString' && operation.segments[0] === 'breb';
}

/** The first of two requests ends the organization's own resource, so the second gets another answer with any key. */
function endsOnce(operation: Operation, { name }: Parameter): boolean {
  return name === 'Idempotency-Key' && operation.path.includes('{');
}

function parameterProbes(source: ProbeSource, operation: Operation, parameter: Parameter): Probe[] {
  const { name, in: where } = parameter;
  if (isPublic(operation, parameter) || endsOnce(operation, parameter)) return [];
  const values = foreignValues(source, operation, parameter);
  return values.flatMap((value) =>
    (where === 'header' ? [asIs] : SPELLINGS).map((spelling) => {
      const seed = source.context.random.integer(0, 2 ** 31);
      const write = (text: string) =>
        requestWith(reseeded(source, seed), operation, parameter, spelling(text));
      return toProbe(source, operation, `${where} ${name}`, value, write);
    }),
  );
}

function toProbe(
  { context }: ProbeSource,
  operation: Operation,
  place: string,
  value: string,
  write: (text: string) => FuzzRequest,
): Probe {
  return {
    operation,
    place,
    value,
    foreign: write(value),
    unknown: write(unknownLike(context.random, value)),
    changes: operation.method !== 'GET',
  };
}

/** The two requests of a probe have the same body, except for the reference. */
function reseeded(source: ProbeSource, seed: number): ProbeSource {
  requests += 1;
  return { ...source, context: { ...source.context, index: requests, random: randomFrom(seed) } };
}

const asIs = (value: string) => value;

/** The other organization's values that fit a parameter; none for filters such as `status`. */
function foreignValues(source: ProbeSource, operation: Operation, parameter: Parameter): string[] {
  const {
    context: { tenant, other },
    count,
  } = source;
  const { name } = parameter;
  if (name === 'reference') return other.references.distinct.slice(0, count);
  if (name === 'Idempotency-Key')
    return ofRun(
      source,
      other.idempotencyKeys.distinct.filter((key) => isUsable(key, tenant)),
    );
  if (name === 'keyString') return other.pool('keyString').distinct.filter(isOwnKey).slice(0, count);
  if (!canNameResource(parameter)) return [];
  return valueKinds(operation, parameter)
    .flatMap((kind) => other.pool(kind).distinct.slice(0, count))
    .slice(0, count);
}

/** A key that the asking organization has not used itself. */
function isUsable(key: string, asking: Tenant): boolean {
  return /^[\w-]+$/.test(key) && !asking.idempotencyKeys.distinct.includes(key);
}

function ofRun({ count, run }: ProbeSource, values: readonly string[]): string[] {
  return values.slice((run + 1) * count, (run + 2) * count);
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
  const body = operation.body ? encodeBody(operation.body.type, freshBody(context, operation.body)) : null;
  const extra = parameter.in === 'header' ? ([[parameter.name.toLowerCase(), text]] as const) : [];
  return toRequest(source, operation, `/${path}${query}`, extra, body);
}

/** A valid body whose reference the organization has not used before. */
function freshBody(context: Context, body: Body): unknown {
  const value = validBody(context, body);
  const isReferenced = typeof value === 'object' && value !== null && 'reference' in value;
  return isReferenced
    ? setField(value, ['reference'], `probe-${context.tenant.word}-${context.index}`)
    : value;
}

function ownSegment(tenant: Tenant, operation: Operation, name: string): string {
  const parameter = operation.parameters.find((each) => each.in === 'path' && each.name === name);
  const kinds = parameter ? valueKinds(operation, parameter) : [];
  return kinds.flatMap((kind) => tenant.pool(kind).distinct)[0] ?? '019b0000-0000-7000-8010-000000000000';
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
  const { context } = source;
  const { body } = operation;
  if (!body) return [];
  return bodyFields(context.document, body.schema).flatMap((field) =>
    bodyValues(source, field).flatMap((value) =>
      uniqueSpellings(value).map((spelling) => {
        const seed = context.random.integer(0, 2 ** 31);
        // The organization stores the value, so that later responses may contain it.
        if (field.kind === 'reference') context.ownership.share(decoded(spelling(value)));
        const write = (text: string) => {
          const own = reseeded(source, seed);
          const changed = setField(freshBody(own.context, body), field.path, decoded(spelling(text)));
          return toRequest(own, operation, operation.path, [], encodeBody(body.type, changed));
        };
        return toProbe(source, operation, `body ${field.path.join('.')}`, value, write);
      }),
    ),
  );
}

/** In a body, some spellings are the same text: the second would find what the first created. */
function uniqueSpellings(value: string): (typeof SPELLINGS)[number][] {
  return [...new Map(SPELLINGS.map((spelling) => [decoded(spelling(value)), spelling])).values()];
}

function encodeBody(type: string, body: unknown): Buffer {
  const isJson = type === 'application/json';
  return Buffer.from(
    isJson ? JSON.stringify(body) : new URLSearchParams(body as Record<string, string>).toString(),
  );
}

function bodyValues(source: ProbeSource, { kind, path }: BodyField): readonly string[] {
  const { other } = source.context;
  if (kind === 'reference') return ofRun(source, other.references.distinct);
  if (kind === 'client') return [other.keyId];
  const name = path.at(-1) ?? '';
  return other.pool(name === 'after' ? 'events' : name).distinct.slice(0, source.count);
}

/** A spelling is written for a URL; a body carries the characters themselves. */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
