import { describe, expect, it } from 'vitest';
import { Metrics } from '../../src/kit/metrics.ts';
import { RailCallTimes } from '../../src/rails/call-times.ts';
import type { PayoutConnector, RailAnswer } from '../../src/rails/contract.ts';

const ORDERS = Array.from({ length: 4 }, () => ({})) as unknown as Parameters<PayoutConnector['pay']>[0];

function connectorThat(pay: () => Promise<readonly RailAnswer<'accepted'>[]>): PayoutConnector {
  const unused = () => Promise.reject(new Error('not used'));
  return { capabilities: {} as never, pay, queryOrders: unused, resolve: unused, listOrders: null };
}

function observed(connector: PayoutConnector) {
  const metrics = new Metrics();
  const wrapped = new RailCallTimes(metrics).observePayouts('breb', connector);
  const counts = () =>
    (metrics.read()[0]?.histograms ?? [])
      .filter(({ count }) => count > 0)
      .map(({ labels, count }) => [labels['connector'], labels['operation'], labels['result'], count]);
  return { wrapped, counts, metrics };
}

describe('the times of rail calls', () => {
  it('count each answer of a call by its result, and a request that was not sent as not_now', async () => {
    const { wrapped, counts } = observed(
      connectorThat(() =>
        Promise.resolve([
          { kind: 'yes', value: 'accepted' },
          { kind: 'yes', value: 'accepted' },
          { kind: 'no', errorCode: 'KEY_NOT_FOUND', railCode: '1', elsewhere: false },
          { kind: 'unknown', cause: 'refused', sent: false },
        ]),
      ),
    );
    expect(await wrapped.pay(ORDERS)).toHaveLength(4);
    expect(counts()).toEqual([
      ['breb', 'pay', 'yes', 2],
      ['breb', 'pay', 'no', 1],
      ['breb', 'pay', 'not_now', 1],
    ]);
  });

  it('count a call that throws as unknown for each of its orders, and pass the error on', async () => {
    const { wrapped, counts } = observed(connectorThat(() => Promise.reject(new Error('unreadable'))));
    await expect(wrapped.pay(ORDERS)).rejects.toThrow('unreadable');
    await expect(wrapped.resolve('@tienda')).rejects.toThrow('not used');
    expect(counts()).toEqual([
      ['breb', 'pay', 'unknown', 4],
      ['breb', 'resolve', 'unknown', 1],
    ]);
  });

  it('start all results of all operations at zero', () => {
    const { metrics } = observed(connectorThat(() => Promise.resolve([])));
    expect(metrics.read()[0]?.histograms).toHaveLength((6 + 3) * 4);
  });
});
