import { activeTracesOf } from '../kit/trace-context.ts';
import { type Tracer, traceShared } from '../kit/tracer.ts';
import { type PayoutConnector, type RailAnswer, type RailConnector, unanswered } from './contract.ts';

/** A span for each sampled item of a rail call; the call carries the `traceparent` of the first. */
function call<Item, Value>(
  tracer: Tracer,
  rail: string,
  operation: string,
  items: readonly Item[],
  toReference: (item: Item) => string,
  send: () => Promise<readonly RailAnswer<Value>[]>,
): Promise<readonly RailAnswer<Value>[]> {
  const traces = activeTracesOf(items.map(toReference));
  if (traces.every((trace) => trace === null)) return send();
  return traceShared(
    tracer,
    traces,
    {
      name: `${rail} ${operation}`,
      kind: 'client',
      attributes: { 'caudal.rail': rail, 'caudal.rail.operation': operation },
      describe: (answers, index) => describeAnswer(answers[index]),
    },
    send,
  );
}

function describeAnswer(answer: RailAnswer<unknown> | undefined) {
  const kind = answer?.kind ?? 'unknown';
  const result = { 'caudal.rail.result': kind };
  if (answer?.kind === 'no') return { attributes: { ...result, 'caudal.rail.error_code': answer.errorCode } };
  return kind === 'unknown' ? { attributes: result, error: 'unknown' } : { attributes: result };
}

const sameText = (reference: string) => reference;

export function withSpans(connector: RailConnector, tracer: Tracer): RailConnector {
  const { rail } = connector.capabilities;
  return {
    capabilities: connector.capabilities,
    open: (orders) =>
      call(
        tracer,
        rail,
        'open',
        orders,
        ({ reference }) => reference,
        () => connector.open(orders),
      ),
    queryStatus: (references) =>
      call(tracer, rail, 'queryStatus', references, sameText, () => connector.queryStatus(references)),
    close: (references) =>
      call(tracer, rail, 'close', references, sameText, () => connector.close(references)),
    banks: connector.banks,
    listPayments: connector.listPayments,
    disconnect: () => connector.disconnect(),
  };
}

export function withPayoutSpans(connector: PayoutConnector, tracer: Tracer): PayoutConnector {
  const { rail } = connector.capabilities;
  return {
    capabilities: connector.capabilities,
    pay: (orders) =>
      call(
        tracer,
        rail,
        'pay',
        orders,
        ({ endToEndId }) => endToEndId,
        () => connector.pay(orders),
      ),
    queryOrders: (endToEndIds) =>
      call(tracer, rail, 'queryOrders', endToEndIds, sameText, () => connector.queryOrders(endToEndIds)),
    // The reference is empty: a lookup belongs to the request in progress, and the key never reaches traces.
    resolve: async (key) => {
      const [answer] = await call(tracer, rail, 'resolve', [''], sameText, async () => [
        await connector.resolve(key),
      ]);
      return answer ?? unanswered('no answer');
    },
    listOrders: connector.listOrders,
  };
}
