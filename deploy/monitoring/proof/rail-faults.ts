import type { FaultOrder } from '../../../chaos/src/stack/rail-control.ts';
import { holdLock, type InjectedFault } from './fault.ts';
import { waitFor } from './wait-for.ts';

function simulate(fault: FaultOrder): InjectedFault['inject'] {
  return async ({ rails }) => {
    const id = await rails.addFault(fault);
    return () => rails.removeFault(id);
  };
}

export const RAIL_FAULTS: readonly InjectedFault[] = [
  {
    name: 'payers of PSE stop paying',
    fires: ['CaudalConfirmationRateLow'],
    inject: async ({ load }) => {
      load.paying.delete('PSE');
      return async () => void load.paying.add('PSE');
    },
  },
  {
    name: 'PSE is down',
    fires: ['CaudalRailCallsFailing', 'CaudalRailCircuitOpen'],
    mayFire: [
      'CaudalConfirmationRateLow',
      'CaudalApiLatencyHigh',
      'CaudalRailNoticesWaiting',
      'CaudalScheduleFailing',
    ],
    inject: simulate({ rail: 'PSE', operation: '*', fault: 'down' }),
  },
  {
    name: 'status queries of PSE are slow',
    fires: ['CaudalRailCallsSlow'],
    mayFire: ['CaudalRailNoticesWaiting', 'CaudalConfirmationRateLow', 'CaudalRailCallsFailing'],
    inject: simulate({ rail: 'PSE', operation: 'query', fault: 'slow', ms: 3000 }),
  },
  {
    name: 'Bre-B registers no keys',
    fires: ['CaudalBrebKeysWaiting'],
    mayFire: ['CaudalRailCallsFailing', 'CaudalRailCircuitOpen', 'CaudalConfirmationRateLow'],
    inject: simulate({ rail: 'BRE_B', operation: 'register', fault: 'down' }),
  },
  {
    name: 'a notification cannot be applied',
    fires: ['CaudalRailNoticesWaiting'],
    inject: async (world) => {
      const { id, sourceData } = await world.load.payin('BRE_B', false);
      const release = await holdLock(world, 'select from caudal.payins where id = $1 for update', [id]);
      await waitFor('the key is registered and paid', async () =>
        (await world.rails.pay({ key: sourceData?.keyString ?? '' })).every(Boolean) ? true : null,
      );
      return release;
    },
  },
  {
    name: 'PSE sends a notification that cannot be parsed',
    fires: ['CaudalRailNoticesUnreadable'],
    inject: async ({ notify }) => {
      await notify('pse', { reference: 17, state: 'SOMETHING' });
      return async () => undefined;
    },
  },
  {
    name: 'an operator pauses a rail for an organization',
    fires: ['CaudalRailPaused'],
    inject: async ({ stack }) => {
      // Another organization: the requests of the load are not rejected.
      const { organizationId } = await stack.newOrganization();
      const about = ['--rail', 'PSE', '--org', organizationId];
      await stack.command('rails', 'pause', ...about, '--reason', 'test');
      return async () => void (await stack.command('rails', 'resume', ...about));
    },
  },
];
