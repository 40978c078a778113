import { passFailpoint } from '../kit/failpoint.ts';
import type { RailConnector } from './contract.ts';

const CALLS = ['open', 'ask', 'close'] as const;
type Call = (typeof CALLS)[number];

/** The two sides of a call: before it nothing was sent, after it the rail has acted and we have written nothing down. */
function callFailpoints(rail: string, call: Call): { readonly before: string; readonly after: string } {
  return { before: `${rail} ${call}: before call`, after: `${rail} ${call}: after call` };
}

/** Every failpoint on the way to a rail. */
export function failpointsOf({ abilities }: RailConnector): string[] {
  const calls = CALLS.filter((call) => call !== 'close' || abilities.closeAtOnce > 0);
  return calls.flatMap((call) => Object.values(callFailpoints(abilities.rail, call)));
}

export function withFailpoints(connector: RailConnector): RailConnector {
  const { rail } = connector.abilities;
  const around = async <T>(call: Call, work: () => Promise<T>): Promise<T> => {
    const { before, after } = callFailpoints(rail, call);
    passFailpoint(before);
    const answer = await work();
    passFailpoint(after);
    return answer;
  };
  return {
    abilities: connector.abilities,
    open: (orders) => around('open', () => connector.open(orders)),
    ask: (references) => around('ask', () => connector.ask(references)),
    close: (references) => around('close', () => connector.close(references)),
    banks: connector.banks,
  };
}
