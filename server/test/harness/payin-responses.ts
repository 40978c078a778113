import { expect } from 'vitest';
import type { ApiClient, ApiResponse } from './api-client.ts';

/** A payin as a merchant's program declares it, independent of the server's schema. */
export interface PayinBody {
  readonly id: string;
  readonly amount: number;
  readonly amountInCents: number;
  readonly confirmedAmount: number | null;
  readonly confirmedAmountInCents: number | null;
  readonly currency: string;
  readonly status: string;
  readonly settlementStatus: string | null;
  readonly rail: string;
  readonly reference: string;
  readonly paymentLinkId: string | null;
  readonly inlineCustomer: Readonly<Record<string, string>> | null;
  readonly errorCode: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly expiresAt: string;
  readonly resultAt: string | null;
  readonly chargebackAt: string | null;
  readonly organizationId: string;
  readonly sourceData: {
    readonly keyType?: string;
    readonly keyString?: string;
    readonly qrString?: string;
    readonly checkoutUrl?: string;
    readonly pseUrl?: string | null;
    readonly bank?: string;
  };
  readonly callbackUrl: string | null;
  readonly metadata: Readonly<Record<string, string>>;
}

type PayinListItem = Omit<PayinBody, 'inlineCustomer'> & { readonly inlineCustomer: string | null };

export interface PayinPage {
  readonly data: readonly PayinListItem[];
  readonly pageInfo: {
    readonly hasNext: boolean;
    readonly hasPrevious: boolean;
    readonly nextCursor: string | null;
    readonly previousCursor: string | null;
  };
}

/** Creates a payin and requires a 201. */
export async function createPayin(
  api: ApiClient,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<PayinBody> {
  return expectStatus(await api.post<PayinBody>('/payins', body, headers), 201);
}

/** A payin without `anomalies`, which only GET returns and other tests cover. */
export async function readPayin(api: ApiClient, id: string): Promise<PayinBody> {
  const { anomalies: _, ...payin } = expectStatus(
    await api.get<PayinBody & { readonly anomalies: readonly object[] }>(`/payins/${id}`),
    200,
  );
  return payin;
}

/** One page of the list; `query` is sent verbatim. */
export async function listPage(api: ApiClient, query = ''): Promise<PayinPage> {
  return expectStatus(await api.get<PayinPage>(`/payins${query}`), 200);
}

function expectStatus<Body>(answer: ApiResponse<Body>, status: number): Body {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body;
}

export interface ProblemSummary {
  readonly status: number;
  readonly code: string;
  /** `path code` of every field error, in order; absent when the problem names no fields. */
  readonly errors?: readonly string[];
}

interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly instance: string;
  readonly code: string;
  readonly requestId: string;
  readonly errors?: readonly { readonly path: string; readonly code: string; readonly message: string }[];
}

/** Checks that a response is a valid RFC 9457 problem of this API and returns its distinguishing fields. */
export function toProblem(answer: ApiResponse<unknown>): ProblemSummary {
  const problem = answer.body as ProblemBody;
  expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8');
  expect(problem.status).toBe(answer.status);
  expect(new URL(problem.type).pathname).toBe(`/docs/errors/${problem.code}`);
  expect(problem.title).toMatch(/^[A-ZÁÉÍÓÚ].{4,}[^.]$/);
  expect(problem.detail).toMatch(/^.{10,}\.$/);
  expect(problem.instance).toMatch(/^\/[^?]*$/);
  expect(problem.requestId).toMatch(/^req_[0-9A-Z]{20}$/);
  expect(answer.headers.get('x-request-id')).toBe(problem.requestId);
  for (const { message } of problem.errors ?? []) expect(message).toMatch(/^[^{}]{5,}\.$/);
  const { status, code, errors } = problem;
  return {
    status,
    code,
    ...(errors === undefined ? {} : { errors: errors.map((error) => `${error.path} ${error.code}`) }),
  };
}
