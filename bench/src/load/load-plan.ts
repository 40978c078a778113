/** Instructions for a load generator process. */
export interface LoadPlan {
  /** Arrivals per second (open model). Null: as fast as responses arrive (closed model). */
  readonly perSecond: number | null;
  readonly ports: readonly number[];
  readonly connections: number;
  readonly seconds: number;
  readonly warmUpSeconds: number;
  /** Maximum number of requests in the closed model; the load ends early after them. */
  readonly count?: number;
  readonly request: RequestPlan;
}

export interface RequestPlan {
  readonly path: string;
  /** Used round-robin. */
  readonly apiKeys: readonly string[];
  /** `%n` is replaced by the number of the request. */
  readonly body: string;
  /** `%n` is replaced as well; null: no idempotency key. */
  readonly idempotencyKey: string | null;
}

export function requestMaker(plan: RequestPlan): (index: number) => string {
  return (index) => requestText(plan, plan.apiKeys[index % plan.apiKeys.length] ?? '', String(index));
}

/** The complete text of one request; `number` replaces `%n`. */
export function requestText(plan: RequestPlan, apiKey: string, number: string): string {
  const body = plan.body.replaceAll('%n', number);
  const key =
    plan.idempotencyKey === null
      ? ''
      : `idempotency-key: ${plan.idempotencyKey.replaceAll('%n', number)}\r\n`;
  return `POST ${plan.path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-api-key: ${apiKey}\r\n${key}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** A typical payin request, with customer and callback URL. */
export function payinRequest(
  apiKeys: readonly string[],
  run: string,
  keyType: 'SINGLE_USE' | 'QR_CODE' = 'SINGLE_USE',
): RequestPlan {
  return {
    path: '/payins',
    apiKeys,
    idempotencyKey: `key-${run}-%n`,
    body: `{"amountInCents":4980000,"currency":"COP","rail":"BRE_B","reference":"order-${run}-%n","inlineCustomer":{"name":"Ana María Rojas","idType":"CO_CC","idNumber":"1020304050","phone":"+573001234567","email":"ana.rojas@example.com"},"breb":{"keyType":"${keyType}"},"callbackUrl":"https://shop.example.com/thanks"}`,
  };
}
