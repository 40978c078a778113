import type { z } from 'zod';
import type { ErrorCode, Language } from '../kit/error-catalogue.ts';
import type { Principal, Scope } from '../organizations/organization.ts';
import type { AddressField } from './address-field.ts';
import type { ApiDeps } from './api-deps.ts';

/** What a handler is given: everything checked, nothing raw but the body an idempotency key vouches for. */
interface Call<Params, Query, Body> {
  readonly params: Params;
  readonly query: Query;
  readonly body: Body;
  readonly rawBody: unknown;
  readonly idempotencyKey: string | null;
  /** Of a client that resumes a stream. */
  readonly lastEventId: string | null;
  /** Whether the credential is still good: for answers that go on. */
  readonly stillAuthorized: () => Promise<boolean>;
  /** To be called when what follows waits for a rail: the request no longer counts among those we work on. */
  readonly releaseSlot: () => void;
  readonly language: Language;
}

/** An answer. The status must be one of the operation's `responses`. */
export interface Reply {
  readonly status: number;
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An answer that goes on: server-sent events, as text. */
export interface StreamReply {
  readonly stream: AsyncIterable<string>;
  /** Its end; a client that does not read until then is cut off. */
  readonly ended: AbortSignal;
  /** Called when the client is gone. */
  readonly close: () => void;
}

interface ResponseSpec {
  readonly description: string;
  readonly schema: z.ZodType;
  readonly example: unknown;
  /** `application/json` unless said otherwise. */
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
  /** Members of the body that are addresses. Their mistakes are told together with what the schema finds. */
  readonly addresses?: Readonly<Record<string, AddressField>>;
  /** `application/json` unless said otherwise. */
  readonly bodyType?: 'application/x-www-form-urlencoded';
  readonly bodyExamples?: Readonly<Record<string, { readonly summary: string; readonly value: unknown }>>;
  /** Takes `Idempotency-Key` and remembers it. */
  readonly idempotent?: boolean;
  /** Takes `Last-Event-ID`. */
  readonly resumes?: boolean;
  /** Which of the two schemes the guides show; both are accepted. */
  readonly shows?: 'apiKey' | 'bearer';
  readonly responses: Readonly<Record<number, ResponseSpec>>;
  /** Problems of its own, beyond those every operation can answer. */
  readonly problems: readonly ErrorCode[];
}

/** An operation of a merchant: authenticated, with a scope. */
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

/** An operation anyone may call; it looks after credentials itself. */
export interface PublicOperation<Body extends z.ZodType = z.ZodType>
  extends OperationShape<z.ZodType, z.ZodType, Body> {
  handle(
    deps: ApiDeps,
    call: {
      readonly body: z.output<Body>;
      readonly headers: Readonly<{ authorization?: string | undefined }>;
    },
  ): Promise<Reply>;
}

export type Operation = MerchantOperation | PublicOperation;

export function isMerchantOperation(operation: Operation): operation is MerchantOperation {
  return 'scope' in operation;
}

/** One file an operation: its words, its schema and its handler, from which OpenAPI and the docs are made. */
export function merchantOperation<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType>(
  operation: MerchantOperation<Params, Query, Body>,
): MerchantOperation {
  // The router calls `handle` only with what the operation's own schemas let through.
  return operation;
}

export function publicOperation<Body extends z.ZodType>(operation: PublicOperation<Body>): PublicOperation {
  return operation;
}
