import { randomUUID } from 'node:crypto';
import { toRailReference } from '../../../chaos/src/load/payer.ts';
import { type InjectedFault } from './fault.ts';
import { waitFor } from './wait-for.ts';
import type { World } from './world.ts';

/** Credits money in suspense to its merchant, and reverses payments that the rail does not list. */
async function resolveAnomalies({ stack }: World): Promise<void> {
  type Anomaly = { readonly id: string; readonly kind: string };
  const open = JSON.parse(await stack.command('anomalies', 'list', '--json')) as readonly Anomaly[];
  for (const { id, kind } of open) {
    const resolution = kind === 'payment_not_listed' ? '--reverse' : '--credit';
    await stack.command('anomalies', 'resolve', id, resolution, '--note', 'test');
  }
}

export const MONEY_FAULTS: readonly InjectedFault[] = [
  {
    name: 'a payer pays ten times too much',
    fires: ['CaudalSuspenseGrowing', 'CaudalSuspenseNotZero', 'CaudalAnomaliesOpen'],
    inject: async (world) => {
      const { sourceData } = await world.load.payin('BRE_B', false, 200_000_000);
      await waitFor('the key is registered and paid', async () =>
        (await world.rails.pay({ key: sourceData?.keyString ?? '', amount: '22000000.00' })).every(Boolean)
          ? true
          : null,
      );
      return () => resolveAnomalies(world);
    },
  },
  {
    name: 'a balance of the ledger is wrong',
    fires: ['CaudalLedgerInconsistent'],
    inject: async ({ stack }) => {
      const add = (cents: number) =>
        stack.query(
          `update caudal.ledger_balances set balance_in_cents = balance_in_cents + ${cents} where account = 'available'`,
        );
      const verify = () => stack.command('schedules', 'run', 'ledger-verify').catch(() => undefined);
      await add(1);
      await verify();
      return async () => {
        await add(-1);
        await verify();
      };
    },
  },
  {
    name: 'the ledger has not been verified for days',
    fires: ['CaudalLedgerNotVerified'],
    inject: async ({ stack }) => {
      const shift = (days: number) =>
        stack.query(
          `update caudal.ledger_status set verified_at = verified_at + make_interval(days => ${days})`,
        );
      await shift(-3);
      return async () => void (await shift(3));
    },
  },
  {
    name: 'an order stays without an outcome',
    fires: ['CaudalPayoutsUnknown'],
    inject: async ({ load, stack, rails }) => {
      const { id } = await load.payout('@TESTTIMEOUT');
      const [row] = await stack.query<{ number: number }>(
        'select number from caudal.organizations where id = $1',
        [stack.organization.organizationId],
      );
      const endToEndId = toRailReference(id, row?.number ?? 0);
      await waitFor('the order is sent', () => rails.orderStatus(endToEndId));
      await stack.shiftTime(120_000);
      return async () => void (await rails.endOrder({ endToEndId, outcome: 'SETTLED' }));
    },
  },
  {
    name: 'payouts are not sent',
    fires: ['CaudalPayoutsWaiting'],
    mayFire: ['CaudalRailPaused', 'CaudalConfirmationRateLow'],
    inject: async ({ load, stack }) => {
      load.creating.delete('BRE_B');
      await stack.command('rails', 'pause', '--rail', 'BRE_B', '--reason', 'test');
      return async () => {
        await stack.command('rails', 'resume', '--rail', 'BRE_B');
        load.creating.add('BRE_B');
      };
    },
  },
  {
    name: 'a notification reports a payment that does not exist',
    fires: ['CaudalPayinsHeld'],
    mayFire: ['CaudalAnomaliesOpen', 'CaudalPayoutsUnknown'],
    inject: async (world) => {
      const { sourceData } = await world.load.payin('BRE_B', false);
      const key = sourceData?.keyString ?? '';
      await world.notify('breb', {
        type: 'SETTLED',
        key,
        internalId: randomUUID(),
        executionId: randomUUID(),
        endToEndId: 'e2e',
        amount: '50000.00',
        currency: 'COP',
        code: null,
        at: new Date().toISOString(),
      });
      // Longer than the processing time of the rail.
      await world.stack.shiftTime(60_000);
      return () => resolveAnomalies(world);
    },
  },
];
