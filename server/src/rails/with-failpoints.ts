import { passFailpoint } from '../kit/failpoint.ts';
import type { PayoutConnector, RailConnector } from './contract.ts';

const CALLS = ['open', 'queryStatus', 'close'] as const;
const PAYOUT_CALLS = ['pay', 'queryOrders', 'resolve'] as const;
type Call = (typeof CALLS)[number] | (typeof PAYOUT_CALLS)[number];

/** Before the call nothing was sent; after it the rail has acted and we have not recorded anything. */
function callFailpoints(rail: string, call: Call): { readonly before: string; readonly after: string } {
  return { before: `${rail} ${call}: before call`, after: `${rail} ${call}: after call` };
}

/** All failpoints of a rail's collection calls. */
export function railFailpoints({ capabilities }: RailConnector): string[] {
  const calls = CALLS.filter((call) => call !== 'close' || capabilities.maxCloseBatch > 0);
  return calls.flatMap((call) => Object.values(callFailpoints(capabilities.rail, call)));
}

/** All failpoints of a rail's payout calls. */
export function payoutFailpoints({ capabilities }: PayoutConnector): string[] {
  return PAYOUT_CALLS.flatMap((call) => Object.values(callFailpoints(capabilities.rail, call)));
}

async function withCallFailpoints<T>(rail: string, call: Call, send: () => Promise<T>): Promise<T> {
  const { before, after } = callFailpoints(rail, call);
  passFailpoint(before);
  const answer = await send();
  passFailpoint(after);
  return answer;
}

export function withFailpoints(connector: RailConnector): RailConnector {
  const { rail } = connector.capabilities;
  return {
    capabilities: connector.capabilities,
    open: (orders) => withCallFailpoints(rail, 'open', () => connector.open(orders)),
    queryStatus: (references) =>
      withCallFailpoints(rail, 'queryStatus', () => connector.queryStatus(references)),
    close: (references) => withCallFailpoints(rail, 'close', () => connector.close(references)),
    banks: connector.banks,
    listPayments: connector.listPayments,
    disconnect: () => connector.disconnect(),
  };
}

export function withPayoutFailpoints(connector: PayoutConnector): PayoutConnector {
  const { rail } = connector.capabilities;
  return {
    capabilities: connector.capabilities,
    pay: (orders) => withCallFailpoints(rail, 'pay', () => connector.pay(orders)),
    queryOrders: (endToEndIds) =>
      withCallFailpoints(rail, 'queryOrders', () => connector.queryOrders(endToEndIds)),
    resolve: (key) => withCallFailpoints(rail, 'resolve', () => connector.resolve(key)),
    listOrders: connector.listOrders,
  };
}
