import { holdLock, type InjectedFault } from './fault.ts';

export const WEBHOOK_FAULTS: readonly InjectedFault[] = [
  {
    name: 'no queue of webhooks can be leased',
    fires: ['CaudalWebhooksDelayed'],
    mayFire: ['CaudalDatabasePoolExhausted'],
    inject: (world) => holdLock(world, 'lock table caudal.webhook_queues in exclusive mode'),
  },
  {
    name: 'an endpoint responds 500',
    fires: ['CaudalWebhookEndpointsFailing'],
    inject: async ({ load, sink }) => {
      const id = await load.addEndpoint(`${sink.url}/broken`);
      return async () =>
        void (await load.request('PATCH', `/webhook-endpoints/${id}`, { status: 'DISABLED' }));
    },
  },
  {
    name: 'an endpoint responds 410',
    fires: ['CaudalWebhookEndpointDisabled'],
    mayFire: ['CaudalWebhookEndpointsFailing'],
    inject: async ({ load, sink }) => {
      await load.addEndpoint(`${sink.url}/gone`);
      return async () => undefined;
    },
  },
];
