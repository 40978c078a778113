import type { ScenarioBug } from './run-scenario-bugs.ts';
import type { WebhookScenario } from './webhook-scenario.ts';

const DELIVERIES = 'webhooks/delivery.store.ts';
const LINES = 'webhooks/queue.store.ts';
const DELIVERING = 'flows/webhooks/deliver-webhooks.ts';
const OUTCOME = 'flows/webhooks/delivery-outcome.ts';
const DISPATCHING = 'flows/webhooks/dispatch-events.ts';

const ARRIVES = 'every event reaches every endpoint that wants it';

/** The first attempt fails, so there is a second. */
async function fail(scenario: WebhookScenario): Promise<void> {
  await scenario.strike(await scenario.endpoint(), { fault: 'error' });
  await scenario.happen();
}

/** Longer than any scenario takes: its request is let go when the faults are cleared. */
const HELD_UP = { fault: 'slow', ms: 9000 } as const;

/** Mistakes on the way of events to merchants. */
export const WEBHOOK_BUGS: readonly ScenarioBug<WebhookScenario>[] = [
  // First: claims of whatever else is on the stage would grow old with its own.
  {
    name: 'the line of a dead sender is never taken over',
    patches: [
      {
        file: LINES,
        find: 'where l.leased_until < clock_timestamp() and l.open order by',
        replace: 'where l.leased_until < clock_timestamp() and not l.open order by',
      },
    ],
    scenario: async (scenario) => {
      const endpoint = await scenario.endpoint();
      await scenario.strike(endpoint, { fault: 'hang' });
      await scenario.happen();
      await scenario.underWay(endpoint);
      await scenario.killWorkers();
      await scenario.clearFaults();
      await scenario.ageLeases();
      await scenario.restartWorkers();
    },
    breaks: [ARRIVES],
  },
  {
    name: 'an event is dispatched to the first endpoint only',
    patches: [
      {
        file: DELIVERIES,
        find: "wantedBy('w.created_at <= t.created_at')",
        replace:
          "wantedBy('w.created_at <= t.created_at and w.id = (select f.id from caudal.webhook_endpoints f where f.organization_id = t.organization_id order by f.id limit 1)')",
      },
    ],
    scenario: async (scenario) => {
      await scenario.endpoint();
      await scenario.endpoint();
      await scenario.happen();
    },
    breaks: [ARRIVES],
  },
  {
    name: 'an endpoint gets events that it did not ask for',
    patches: [
      {
        file: DELIVERIES,
        find: '${further} and (w.events is null or t.event = any (w.events))',
        replace: '${further}',
      },
    ],
    scenario: async (scenario) => {
      await scenario.endpoint(['payout.confirmed']);
      await scenario.happen();
    },
    breaks: ['an endpoint gets what it wants and nothing else'],
  },
  {
    name: 'events are marked before their deliveries are committed',
    patches: [
      {
        file: DISPATCHING,
        find: `const events = await this.#deps.system.transaction('dispatch events', (tx) =>
        dispatchEvents(tx, first, limit),
      );`,
        replace: `const marked = await this.#deps.system.transaction('read', (tx) =>
        tx.query<{ id: string }>({ name: 'planted.mark', text: 'update caudal.events set undispatched = false where undispatched returning id' }, []));
      const events = await this.#deps.system.transaction('dispatch events', (tx) =>
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
        find: 'first: DispatchedFirst, limit: number): Promise<number>',
        replace: 'first: DispatchedFirst, limit: number, ids: readonly string[]): Promise<number>',
      },
      { file: DELIVERIES, find: '(DISPATCH[first], [limit])', replace: '(DISPATCH[first], [limit, ids])' },
    ],
    scenario: async (scenario) => {
      await scenario.endpoint();
      await scenario.killWorkers();
      await scenario.happen();
      await scenario.dieAt('dispatch events: before commit');
      await scenario.restartWorkers();
    },
    breaks: [ARRIVES],
  },
  {
    name: 'what was sent and not answered is taken for delivered',
    patches: [
      {
        file: OUTCOME,
        find: `return answer.kind === 'answered' && answer.status >= 200 && answer.status < 300;`,
        replace: `return answer.kind === 'failed' || (answer.status >= 200 && answer.status < 300);`,
      },
    ],
    scenario: async (scenario) => {
      await scenario.strike(await scenario.endpoint(), { fault: 'reset' });
      await scenario.happen();
    },
    breaks: ['delivered means acknowledged'],
  },
  {
    name: 'that something was received is not written down',
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
      await scenario.happen();
    },
    breaks: ['what was acknowledged is not sent again'],
  },
  {
    name: 'every attempt has an id of its own',
    patches: [
      {
        file: DELIVERING,
        find: 'signatureHeaders({ id: delivery.eventId,',
        replace:
          'signatureHeaders({ id: delivery.attempts === 0 ? delivery.eventId : `${delivery.eventId}-${delivery.attempts}`,',
      },
    ],
    scenario: fail,
    breaks: ['what is sent is an event that was recorded'],
  },
  {
    name: 'a body is rendered anew for every attempt',
    patches: [
      {
        file: DELIVERING,
        find: 'const answer = await this.#send(next, event.body, target);',
        replace:
          'const answer = await this.#send(next, Buffer.from(JSON.stringify({ ...JSON.parse(event.body.toString()), attempt: next.attempts + 1 })), target);',
      },
    ],
    scenario: fail,
    breaks: ['an event has one body'],
  },
  {
    name: 'a line that somebody has is taken by another',
    patches: [
      {
        file: LINES,
        find: 'l.failures = 0 and not l.backlogged and l.open and (l.leased_until is null or l.leased_until < clock_timestamp())',
        replace: 'l.failures = 0 and not l.backlogged and l.open',
      },
    ],
    // When the other endpoint has both, whoever looks for lines has seen this one too.
    scenario: async (scenario) => {
      const [endpoint, other] = [await scenario.endpoint(), await scenario.endpoint()];
      await scenario.strike(endpoint, HELD_UP);
      await scenario.happen();
      await scenario.underWay(endpoint);
      await scenario.happen();
      await scenario.delivered(other, 2);
      await scenario.clearFaults();
    },
    breaks: ['a line is one sender’s at a time'],
  },
  {
    name: 'what comes into a line is left to whoever has it',
    patches: [
      {
        file: LINES,
        find: 'set due_at = case when l.open then least(',
        replace: 'set due_at = case when l.open and l.lease_token is null then least(',
      },
    ],
    // Who has it looks for what is due before that is committed, and lets go of it afterwards.
    scenario: async (scenario) => {
      const endpoint = await scenario.endpoint();
      await scenario.strike(endpoint, HELD_UP);
      await scenario.happen();
      await scenario.underWay(endpoint);
      await scenario.whileHeld(
        endpoint,
        () => scenario.happen(),
        () => scenario.clearFaults(),
      );
    },
    breaks: ['no line is forgotten'],
  },
  {
    name: 'what was held for a disabled endpoint stays where it is',
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
      await scenario.happen();
      await scenario.dispatched();
      await scenario.merchants.setStatus(endpoint, 'ENABLED');
    },
    breaks: [ARRIVES],
  },
];
