import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { deposit } from '../../src/flows/ledger/deposit.system.ts';
import { createApiKey } from '../../src/flows/operations/manage-organizations.system.ts';
import { cents } from '../../src/kit/money.ts';
import type { Principal } from '../../src/organizations/organization.ts';
import type { ApiClient, ApiResponse } from './api-client.ts';
import type { TestDatabase } from './database.ts';
import type { InProcess } from './in-process.ts';
import { CUSTOMER, newReference } from './payin-requests.ts';
import { until } from './until.ts';

/** A payout as a merchant's program declares it, independent of the server's schema. */
export interface PayoutBody {
  readonly id: string;
  readonly amount: number;
  readonly amountInCents: number;
  readonly currency: string;
  readonly status: string;
  readonly rail: string;
  readonly reference: string;
  readonly inlineCustomer: Readonly<Record<string, string>>;
  readonly errorCode: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly resultAt: string | null;
  readonly organizationId: string;
  readonly sourceData: { readonly keyString: string; readonly endToEndId: string | null };
}

interface LookupBody {
  readonly details: Readonly<Record<string, string>>;
  readonly lookupId: string;
  readonly expiresAt: string;
  readonly match?: { readonly name?: string; readonly documentNumber?: boolean };
}

export function payoutRequest(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    amountInCents: 12_500,
    currency: 'COP',
    rail: 'BRE_B',
    reference: newReference(),
    inlineCustomer: CUSTOMER,
    breb: { keyString: '@TESTOK' },
    ...changes,
  };
}

/** Creates a payout and requires a 201. */
export async function createPayout(
  api: ApiClient,
  body: unknown = payoutRequest(),
  headers: Readonly<Record<string, string>> = {},
): Promise<PayoutBody> {
  return expectStatus(await api.postWhenAvailable<PayoutBody>('/payouts', body, headers), 201);
}

/** A payout without `anomalies`, which only GET returns and other tests cover. */
export async function readPayout(api: ApiClient, id: string): Promise<PayoutBody> {
  const { anomalies: _, ...payout } = expectStatus(
    await api.get<PayoutBody & { readonly anomalies: readonly object[] }>(`/payouts/${id}`),
    200,
  );
  return payout;
}

export function waitForPayoutStatus(
  api: ApiClient,
  id: string,
  status: string,
  withinMs = PATIENCE_MS,
): Promise<PayoutBody> {
  return until(
    `${id} is ${status}`,
    async () => {
      const payout = await readPayout(api, id);
      return payout.status === status ? payout : null;
    },
    withinMs,
  );
}

export function cancelPayout(api: ApiClient, id: string): Promise<ApiResponse<PayoutBody>> {
  return api.request<PayoutBody>('POST', `/payouts/${id}/cancel`);
}

/** Looks up a Bre-B key; returns any response. */
export function lookUp(
  api: ApiClient,
  key: string,
  expected: Readonly<Record<string, string>> = {},
): Promise<ApiResponse<LookupBody>> {
  const query = new URLSearchParams(expected).toString();
  return api.get<LookupBody>(`/breb/keys/${encodeURIComponent(key)}${query === '' ? '' : `?${query}`}`);
}

/** Looks up a Bre-B key and requires a 200. */
export async function resolveKey(api: ApiClient, key: string): Promise<LookupBody> {
  return expectStatus(await lookUp(api, key), 200);
}

export async function readBalance(api: ApiClient): Promise<{ available: number; held: number }> {
  const answer = await api.get<{ availableInCents: number; heldInCents: number }>('/balance');
  const { availableInCents, heldInCents } = expectStatus(answer, 200);
  return { available: availableInCents, held: heldInCents };
}

function expectStatus<Body>(answer: ApiResponse<Body>, status: number): Body {
  if (answer.status !== status) throw new Error(`expected ${status}, got ${answer.status}: ${answer.text}`);
  return answer.body;
}

/** An organization of one test. */
export interface Shop {
  readonly id: string;
  readonly principal: Principal;
  readonly api: ApiClient;
}

/** @param funds in cents, available immediately */
export async function newShop(caudal: InProcess, api: ApiClient, funds = 1_000_000_000): Promise<Shop> {
  const { principal, apiKey } = await caudal.newOrganization();
  const { id } = principal.organization;
  if (funds > 0)
    await deposit(caudal.deps, {
      organizationId: id,
      amount: cents(funds),
      reference: newReference(),
      operator: 'test',
    });
  return { id, principal, api: api.as(apiKey) };
}

/** A client of the same organization whose API key has only these scopes. */
export async function withScopes(
  caudal: InProcess,
  shop: Shop,
  ...scopes: readonly string[]
): Promise<ApiClient> {
  const credential = await createApiKey(caudal.deps, 'test', shop.id, {
    name: 'test',
    scopes,
    lifetimeSeconds: null,
  });
  return shop.api.as(credential?.text ?? '');
}

/** Event names of a payout, oldest first. */
export async function payoutEventNames(database: TestDatabase, payoutId: string): Promise<string[]> {
  const rows = await database.query<{ event: string }>(
    'select event from caudal.events where resource_id = $1 order by id',
    [payoutId],
  );
  return rows.map(({ event }) => event);
}

/** The ID under which the rail knows a payout. */
export async function readEndToEndId(database: TestDatabase, payoutId: string): Promise<string> {
  const [row] = await database.query<{ end_to_end_id: string }>(
    'select end_to_end_id from caudal.payouts where id = $1',
    [payoutId],
  );
  if (!row) throw new Error(`payout ${payoutId} does not exist`);
  return row.end_to_end_id;
}
