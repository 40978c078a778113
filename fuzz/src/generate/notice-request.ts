import { createHmac } from 'node:crypto';
import type { Context } from './context.ts';
import { printable } from './credentials.ts';
import { corruptJson, hostileText, hostileValue } from './hostile.ts';
import { commonHeaders } from './operation-request.ts';
import type { FuzzRequest } from './request.ts';
import { unknownId } from './valid.ts';

export interface NoticeSecrets {
  readonly breb: string;
  readonly pse: string;
}

/** Notices that no rail sent: forged, badly signed, and correctly signed with hostile content. */
export function noticeRequest(context: Context, secrets: NoticeSecrets): FuzzRequest {
  const { random, index } = context;
  const rail = random.pick(['breb', 'pse']);
  const body = noticeBody(context, rail);
  const timestamp = String(
    Math.floor(Date.now() / 1000) - (random.chance(0.1) ? random.integer(299, 10_000) : 0),
  );
  const secret = random.chance(0.5)
    ? secrets[rail]
    : random.pick(['', 'guess', secrets[rail === 'pse' ? 'breb' : 'pse']]);
  const signature = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  const headers: [string, string][] = [
    ['x-notice-timestamp', random.chance(0.95) ? timestamp : printable(hostileText(random))],
    ['x-notice-signature', random.chance(0.95) ? `v1=${signature}` : printable(hostileText(random))],
  ];
  return {
    index,
    subject: 'rail notices',
    method: random.chance(0.97) ? 'POST' : 'GET',
    target: `/rail-notices/${random.chance(0.98) ? rail : 'x'}`,
    headers: [
      ['host', 'caudal.test'],
      ['content-type', random.chance(0.9) ? 'application/json' : 'x/y'],
      ...(random.chance(0.95) ? headers : []),
      ...commonHeaders(context),
    ],
    body,
    tenant: null,
  };
}

function noticeBody(context: Context, rail: 'breb' | 'pse'): Buffer {
  const { random } = context;
  const notices = Array.from({ length: random.chance(0.05) ? 101 : random.integer(0, 3) }, () =>
    hostileNotice(context, rail),
  );
  const text = JSON.stringify(random.chance(0.95) ? { notices } : hostileValue(random)) ?? '';
  return random.chance(0.1) ? corruptJson(random, text) : Buffer.from(text);
}

/** Never the exact amount of a real payin: that notice would be a lie of the rail, which other tests cover. */
function hostileNotice(context: Context, rail: 'breb' | 'pse'): unknown {
  const { random, tenant } = context;
  if (random.chance(0.2)) return hostileValue(random);
  const at = '2026-11-16T12:00:00.000Z';
  const notice: Record<string, unknown> =
    rail === 'breb'
      ? {
          noticeId: unknownId(context),
          type: random.pick(['SETTLED', 'REJECTED', 'CANCELED', 'ORDER_SETTLED', 'ORDER_REJECTED']),
          key: random.chance(0.2) ? tenant.pool('keyString').pick(random) : '@CDLUNKNOWN0000000000',
          internalId: unknownId(context),
          executionId: unknownId(context),
          endToEndId: `2026111600000${random.integer(0, 1e9)}`,
          amount: random.pick(['0.01', '1.00', '-1.00', '99999999999999.99', '1e3']),
          currency: 'COP',
          code: null,
          at,
        }
      : {
          noticeId: unknownId(context),
          reference: `FUZZ${random.integer(0, 1e9)}`,
          transactionId: unknownId(context),
          trazabilityCode: String(random.integer(0, 2 ** 31)),
          state: random.pick(['OK', 'NOT_AUTHORIZED', 'FAILED', 'X']),
          amount: '0.01',
          currency: 'COP',
          reason: null,
          at,
        };
  if (random.chance(0.4))
    notice[random.pick(['amount', 'key', 'at', 'type', 'endToEndId', 'reference'])] = hostileValue(random);
  return notice;
}
