import type { z } from 'zod';
import type { Idempotency } from '../flows/shared/creation-request.ts';
import type { ErrorCode, Language } from '../kit/error-catalogue.ts';
import type { Principal, Scope } from '../organizations/organization.ts';
import type { ApiDeps } from './api-deps.ts';
import type { UrlField } from './url-field.ts';

/** Input of a handler, validated. */
interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  /** The idempotency key and the body as sent, which the key is bound to. */
  readonly idempotency: Idempotency | null;
  /** Sent by a client that resumes a stream. */
  readonly lastEventId: string | null;
  /** Whether the credential is still valid; streams check it repeatedly. */
  readonly stillAuthorized: () => Promise<boolean>;
  /** Call it before waiting for a rail, so that the request no longer counts against the concurrency limit. */
  readonly releaseSlot: () => void;
  readonly language: Language;
}

/** A response. The status must be one of the operation's `responses`. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response to a creation, which may be a replay. */
export function createdReply({ replayed }: { readonly replayed: boolean }, body: object): Reply {
  return { status: 201, body, ...(replayed ? { headers: { 'idempotent-replayed': 'true' } } : {}) };
}

/** Errors of every operation that creates a payin or a payment link. */
export const CREATION_PROBLEMS: readonly ErrorCode[] = [
  'organization_suspended',
  'rail_not_enabled',
  'reference_taken',
  'idempotency_in_flight',
  'idempotency_mismatch',
  'outcome_unknown',
];

/** A streamed response: server-sent events as text. */
export interface StreamReply {
  readonly stream: AsyncIterable<string>;
  /** Aborted when the stream ends; a client that does not read the rest soon is disconnected. */
  readonly ended: AbortSignal;
  /** Called when the client disconnects. */
  readonly close: () => void;
}

interface ResponseSpec {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
  /** Default: `application/json`. */
  readonly type?: 'text/event-stream';
}

interface OperationShape<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** OpenAPI form: `/payins/{id}`. */
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  readonly description: string;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** URL fields of the body. Their errors are reported together with the schema's. */
  readonly urlFields?: Readonly<Record<string, UrlField>>;
  /** Default: `application/json`. */
  readonly bodyType?: 'application/x-www-form-urlencoded';
  readonly bodyExamples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  /** A POST that changes nothing: it counts against the read limits, as a GET does. */
  readonly readOnly?: boolean;
  /** Accepts and stores `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** Accepts `Last-Event-ID`. */
  readonly resumable?: boolean;
  /** The authentication scheme shown first in the docs; both are accepted. */
  readonly preferredAuth?: 'apiKey' | 'bearer';
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Error codes specific to this operation, besides those common to all. */
  readonly problems: readonly ErrorCode[];
}

/** An authenticated operation that requires a scope. */
export interface MerchantOperation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
> extends OperationShape<Params, Query, Body> {
  readonly scope: Scope;
  handle(
    deps: ApiDeps,
    principal: Principal,
    call: Call<z.output<Params>, z.output<Query>, z.output<Body>>,
  ): Promise<Reply | StreamReply>;
}

/** An operation without authentication by the router; it checks credentials itself. */
export interface PublicOperation<Body extends z.ZodType = z.ZodType>
  extends OperationShape<z.ZodType, z.ZodType, Body> {
  handle(
    deps: ApiDeps,
    call: {
      readonly body: z.output<Body>;
      readonly headers: Readonly<{ authorization?: string | undefined }>;
      readonly clientAddress: string;
    },
  ): Promise<Reply>;
}

export type Operation = MerchantOperation | PublicOperation;

export function isMerchantOperation(operation: Operation): operation is MerchantOperation {
  return 'scope' in operation;
}

/** Defines an operation: texts, schemas and handler. The router, OpenAPI and the docs are generated from it. */
export function merchantOperation<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  operation: MerchantOperation<Params, Query, Body>,
): MerchantOperation {
  // Widening is safe: the router calls `handle` only with values that the operation's own schemas accepted.
  return operation;
}

export function publicOperation<Body extends z.ZodType>(operation: PublicOperation<Body>): PublicOperation {
  return operation;
}
