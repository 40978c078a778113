import { passFailpoint } from '../kit/failpoint.ts';
import type { PayoutConnector, RailConnector } from './contract.ts';

const CALLS = ['open', 'ask', 'close'] as const;
const PAY_CALLS = ['pay', 'askOrders', 'resolve'] as const;
type Call = (typeof CALLS)[number] | (typeof PAY_CALLS)[number];

/** The two sides of a call: before it nothing was sent, after it the rail has acted and we have written nothing down. */
function callFailpoints(rail: string, call: Call): { readonly before: string; readonly after: string } {
  return { before: `${rail} ${call}: before call`, after: `${rail} ${call}: after call` };
}

/** Every failpoint on the way to a rail. */
export function failpointsOf({ abilities }: RailConnector): string[] {
  const calls = CALLS.filter((call) => call !== 'close' || abilities.closeAtOnce > 0);
  return calls.flatMap((call) => Object.values(callFailpoints(abilities.rail, call)));
}

/** Every failpoint on the way to a rail's payouts. */
export function payFailpointsOf({ abilities }: PayoutConnector): string[] {
  return PAY_CALLS.flatMap((call) => Object.values(callFailpoints(abilities.rail, call)));
}

async function around<T>(rail: string, call: Call, work: () => Promise<T>): Promise<T> {
  const { before, after } = callFailpoints(rail, call);
  passFailpoint(before);
  const answer = await work();
  passFailpoint(after);
  return answer;
}

export function withFailpoints(connector: RailConnector): RailConnector {
  const { rail } = connector.abilities;
  return {
    abilities: connector.abilities,
    open: (orders) => around(rail, 'open', () => connector.open(orders)),
    ask: (references) => around(rail, 'ask', () => connector.ask(references)),
    close: (references) => around(rail, 'close', () => connector.close(references)),
    banks: connector.banks,
  };
}

export function withPayFailpoints(connector: PayoutConnector): PayoutConnector {
  const { rail } = connector.abilities;
  return {
    abilities: connector.abilities,
    pay: (orders) => around(rail, 'pay', () => connector.pay(orders)),
    askOrders: (endToEndIds) => around(rail, 'askOrders', () => connector.askOrders(endToEndIds)),
    resolve: (key) => around(rail, 'resolve', () => connector.resolve(key)),
  };
}
