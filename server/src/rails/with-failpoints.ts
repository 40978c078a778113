import { passFailpoint } from '../kit/failpoint.ts';
import type { PayoutConnector, RailConnector } from './contract.ts';

const CALLS = ['open', 'ask', 'close'] as const;
const PAY_CALLS = ['pay', 'queryOrders', 'resolve'] as const;
type Call = (typeof CALLS)[number] | (typeof PAY_CALLS)[number];

/** The two sides of a call: before it nothing was sent, after it the rail has acted and we have written nothing down. */
function callFailpoints(rail: string, call: Call): { readonly before: string; readonly after: string } {
  return { before: `${rail} ${call}: before call`, after: `${rail} ${call}: after call` };
}

/** Every failpoint on the way to a rail. */
export function failpointsOf({ capabilities }: RailConnector): string[] {
  const calls = CALLS.filter((call) => call !== 'close' || capabilities.maxCloseBatch > 0);
  return calls.flatMap((call) => Object.values(callFailpoints(capabilities.rail, call)));
}

/** Every failpoint on the way to a rail's payouts. */
export function payFailpointsOf({ capabilities }: PayoutConnector): string[] {
  return PAY_CALLS.flatMap((call) => Object.values(callFailpoints(capabilities.rail, call)));
}

async function around<T>(rail: string, call: Call, work: () => Promise<T>): Promise<T> {
  const { before, after } = callFailpoints(rail, call);
  passFailpoint(before);
  const answer = await work();
  passFailpoint(after);
  return answer;
}

export function withFailpoints(connector: RailConnector): RailConnector {
  const { rail } = connector.capabilities;
  return {
    capabilities: connector.capabilities,
    open: (orders) => around(rail, 'open', () => connector.open(orders)),
    ask: (references) => around(rail, 'ask', () => connector.ask(references)),
    close: (references) => around(rail, 'close', () => connector.close(references)),
    banks: connector.banks,
  };
}

export function withPayFailpoints(connector: PayoutConnector): PayoutConnector {
  const { rail } = connector.capabilities;
  return {
    capabilities: connector.capabilities,
    pay: (orders) => around(rail, 'pay', () => connector.pay(orders)),
    queryOrders: (endToEndIds) => around(rail, 'queryOrders', () => connector.queryOrders(endToEndIds)),
    resolve: (key) => around(rail, 'resolve', () => connector.resolve(key)),
  };
}
