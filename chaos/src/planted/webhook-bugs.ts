import type { ScenarioBug } from './run-scenario-bugs.ts';
import type { WebhookScenario } from './webhook-scenario.ts';

const DELIVERIES = 'webhooks/delivery.store.ts';
const QUEUES = 'webhooks/queue.store.ts';
const DELIVERING = 'flows/webhooks/deliver-webhooks.system.ts';
const OUTCOME = 'flows/webhooks/delivery-outcome.ts';
const DISPATCHING = 'flows/webhooks/dispatch-events.system.ts';

const DELIVERED = 'every_event_delivered';

/** The first attempt fails, so a second one follows. */
async function failOnce(scenario: WebhookScenario): Promise<void> {
  await scenario.addFault(await scenario.endpoint(), { fault: 'error' });
  await scenario.createEvent();
}

/** Longer than any scenario; clearing the faults releases the request. */
const SLOW = { fault: 'slow', ms: 9000 } as const;

/** Bugs in the delivery of events to merchants. */
export const WEBHOOK_BUGS: readonly ScenarioBug<WebhookScenario>[] = [
  // First, because expiring its leases would expire those of other scenarios on the stack.
  {
    name: 'the queue of a dead worker is never taken over',
    patches: [
      {
        file: QUEUES,
        find: 'where l.leased_until < clock_timestamp() and l.open order by',
        replace: 'where l.leased_until < clock_timestamp() and not l.open order by',
      },
    ],
    scenario: async (scenario) => {
      const endpoint = await scenario.endpoint();
      await scenario.addFault(endpoint, { fault: 'hang' });
      await scenario.createEvent();
      await scenario.sending(endpoint);
      await scenario.killWorkers();
      await scenario.clearFaults();
      await scenario.ageLeases();
      await scenario.restartWorkers();
    },
    breaks: [DELIVERED],
  },
  {
    name: 'an event is dispatched to the first endpoint only',
    patches: [
      {
        file: DELIVERIES,
        find: "matchingEndpoints('w.created_at <= t.created_at')",
        replace:
          "matchingEndpoints('w.created_at <= t.created_at and w.id = (select f.id from caudal.webhook_endpoints f where f.organization_id = t.organization_id order by f.id limit 1)')",
      },
    ],
    scenario: async (scenario) => {
      await scenario.endpoint();
      await scenario.endpoint();
      await scenario.createEvent();
    },
    breaks: [DELIVERED],
  },
  {
    name: 'an endpoint receives events it is not subscribed to',
    patches: [
      {
        file: DELIVERIES,
        find: '${further} and (w.events is null or t.event = any (w.events))',
        replace: '${further}',
      },
    ],
    scenario: async (scenario) => {
      await scenario.endpoint(['payout.confirmed']);
      await scenario.createEvent();
    },
    breaks: ['only_subscribed_events_sent'],
  },
  {
    name: 'events are marked before their deliveries are committed',
    patches: [
      {
        file: DISPATCHING,
        find: `const { events, traces } = await this.#deps.system.transaction('dispatch events', (tx) =>
        dispatchEvents(tx, first, limit),
      );`,
        replace: `const marked = await this.#deps.system.transaction('read', (tx) =>
        tx.query<{ id: string }>({ name: 'planted.mark', text: 'update caudal.events set undispatched = false where undispatched returning id' }, []));
      const { events, traces } = await this.#deps.system.transaction('dispatch events', (tx) =>
        dispatchEvents(tx, first, limit, marked.map(({ id }) => id)),
      );`,
      },
      {
        file: DELIVERIES,
        find: '${FIRST[first]} limit $1 for update skip locked',
        replace: 'where e.id = any ($2::uuid[]) order by e.id limit $1 for update skip locked',
      },
      {
        file: DELIVERIES,
        find: `  limit: number,
): Promise<{ readonly events: number; readonly traces: readonly Buffer[] }>`,
        replace: `  limit: number,
  ids: readonly string[],
): Promise<{ readonly events: number; readonly traces: readonly Buffer[] }>`,
      },
      { file: DELIVERIES, find: '(DISPATCH[first], [limit]);', replace: '(DISPATCH[first], [limit, ids]);' },
    ],
    scenario: async (scenario) => {
      await scenario.endpoint();
      await scenario.killWorkers();
      await scenario.createEvent();
      await scenario.dieAt('dispatch events: before commit');
      await scenario.restartWorkers();
    },
    breaks: [DELIVERED],
  },
  {
    name: 'a request without a response counts as delivered',
    patches: [
      {
        file: OUTCOME,
        find: `return sendResult.kind === 'answered' && sendResult.status >= 200 && sendResult.status < 300;`,
        replace: `return sendResult.kind === 'failed' || (sendResult.status >= 200 && sendResult.status < 300);`,
      },
    ],
    scenario: async (scenario) => {
      await scenario.addFault(await scenario.endpoint(), { fault: 'reset' });
      await scenario.createEvent();
    },
    breaks: ['delivered_means_acknowledged'],
  },
  {
    name: 'a successful delivery is not recorded',
    patches: [
      {
        file: DELIVERIES,
        find: `  results: readonly AttemptResult[],
  nowMs: number,
): Promise<void> {`,
        replace: `  all: readonly AttemptResult[],
  nowMs: number,
): Promise<void> {
  const results = all.filter(({ status }) => status !== 'DELIVERED');`,
      },
    ],
    scenario: async (scenario) => {
      await scenario.endpoint();
      await scenario.createEvent();
    },
    breaks: ['acknowledged_event_not_resent'],
  },
  {
    name: 'every attempt has its own webhook id',
    patches: [
      {
        file: DELIVERING,
        find: 'signatureHeaders({ id: delivery.eventId,',
        replace:
          'signatureHeaders({ id: delivery.attempts === 0 ? delivery.eventId : `${delivery.eventId}-${delivery.attempts}`,',
      },
    ],
    scenario: failOnce,
    breaks: ['sent_event_recorded'],
  },
  {
    name: 'the body is rendered again for every attempt',
    patches: [
      {
        file: DELIVERING,
        find: 'const sendResult = await this.#send(next, event, target);',
        replace:
          'const sendResult = await this.#send(next, { ...event, body: Buffer.from(JSON.stringify({ ...JSON.parse(event.body.toString()), attempt: next.attempts + 1 })) }, target);',
      },
    ],
    scenario: failOnce,
    breaks: ['one_body_per_event'],
  },
  {
    name: 'a leased queue is leased by another worker',
    patches: [
      {
        file: QUEUES,
        find: 'l.failures = 0 and not l.backlogged and l.open and (l.leased_until is null or l.leased_until < clock_timestamp())',
        replace: 'l.failures = 0 and not l.backlogged and l.open',
      },
    ],
    // When the other endpoint has received both events, the workers have also seen this queue.
    scenario: async (scenario) => {
      const [endpoint, other] = [await scenario.endpoint(), await scenario.endpoint()];
      await scenario.addFault(endpoint, SLOW);
      await scenario.createEvent();
      await scenario.sending(endpoint);
      await scenario.createEvent();
      await scenario.delivered(other, 2);
      await scenario.clearFaults();
    },
    breaks: ['one_sender_per_queue'],
  },
  {
    name: 'a new delivery does not schedule a leased queue',
    patches: [
      {
        file: QUEUES,
        find: 'set due_at = case when l.open then least(',
        replace: 'set due_at = case when l.open and l.lease_token is null then least(',
      },
    ],
    // The lease holder reads due deliveries before the new one is committed, and releases the lease afterward.
    scenario: async (scenario) => {
      const endpoint = await scenario.endpoint();
      await scenario.addFault(endpoint, SLOW);
      await scenario.createEvent();
      await scenario.sending(endpoint);
      await scenario.whileLocked(
        endpoint,
        () => scenario.createEvent(),
        () => scenario.clearFaults(),
      );
    },
    breaks: ['no_stalled_queue'],
  },
  {
    name: 'deliveries held for a disabled endpoint are not resumed',
    patches: [
      {
        file: 'flows/webhooks/manage-endpoints.ts',
        find: 'else if (update.status !== undefined || update.url !== undefined)',
        replace: 'else if (update.url !== undefined)',
      },
    ],
    scenario: async (scenario) => {
      const endpoint = await scenario.endpoint();
      await scenario.merchants.setStatus(endpoint, 'DISABLED');
      await scenario.createEvent();
      await scenario.dispatched();
      await scenario.merchants.setStatus(endpoint, 'ENABLED');
    },
    breaks: [DELIVERED],
  },
];
