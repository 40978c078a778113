import type { DrilledBug } from './run-drilled-bugs.ts';
import type { WebhookDrill } from './webhook-drill.ts';

const DELIVERIES = 'webhooks/delivery.store.ts';
const LINES = 'webhooks/line.store.ts';
const DELIVERING = 'flows/deliver-webhooks.ts';
const OUTCOME = 'flows/delivery-outcome.ts';
const DISPATCHING = 'flows/dispatch-events.ts';

const ARRIVES = 'every event reaches every endpoint that wants it';

/** The first attempt fails, so there is a second. */
async function fail(drill: WebhookDrill): Promise<void> {
  await drill.strike(await drill.endpoint(), { fault: 'error' });
  await drill.happen();
}

/** Longer than any drill takes: its request is let go when the faults are cleared. */
const HELD_UP = { fault: 'slow', ms: 9000 } as const;

/** Mistakes on the way of events to merchants. */
export const WEBHOOK_BUGS: readonly DrilledBug<WebhookDrill>[] = [
  // First: claims of whatever else is on the stage would grow old with its own.
  {
    name: 'the line of a dead sender is never taken over',
    patches: [
      {
        file: LINES,
        find: 'where l.claimed_until < clock_timestamp() and l.open order by',
        replace: 'where l.claimed_until < clock_timestamp() and not l.open order by',
      },
    ],
    drill: async (drill) => {
      const endpoint = await drill.endpoint();
      await drill.strike(endpoint, { fault: 'hang' });
      await drill.happen();
      await drill.underWay(endpoint);
      await drill.killWorkers();
      await drill.clearFaults();
      await drill.ageClaims();
      await drill.restartWorkers();
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
    drill: async (drill) => {
      await drill.endpoint();
      await drill.endpoint();
      await drill.happen();
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
    drill: async (drill) => {
      await drill.endpoint(['payout.confirmed']);
      await drill.happen();
    },
    breaks: ['an endpoint gets what it wants and nothing else'],
  },
  {
    name: 'events are marked before their deliveries are committed',
    patches: [
      {
        file: DISPATCHING,
        find: `const events = await this.#deps.system.transaction('dispatch events', (tx) =>
        dispatchEvents(tx, first, most),
      );`,
        replace: `const marked = await this.#deps.system.transaction('read', (tx) =>
        tx.query<{ id: string }>({ name: 'planted.mark', text: 'update caudal.events set undispatched = false where undispatched returning id' }, []));
      const events = await this.#deps.system.transaction('dispatch events', (tx) =>
        dispatchEvents(tx, first, most, marked.map(({ id }) => id)),
      );`,
      },
      {
        file: DELIVERIES,
        find: '${FIRST[first]} limit $1 for update skip locked',
        replace: 'where e.id = any ($2::uuid[]) order by e.id limit $1 for update skip locked',
      },
      {
        file: DELIVERIES,
        find: 'first: DispatchedFirst, most: number): Promise<number>',
        replace: 'first: DispatchedFirst, most: number, ids: readonly string[]): Promise<number>',
      },
      { file: DELIVERIES, find: '(DISPATCH[first], [most])', replace: '(DISPATCH[first], [most, ids])' },
    ],
    drill: async (drill) => {
      await drill.endpoint();
      await drill.killWorkers();
      await drill.happen();
      await drill.dieAt('dispatch events: before commit');
      await drill.restartWorkers();
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
    drill: async (drill) => {
      await drill.strike(await drill.endpoint(), { fault: 'reset' });
      await drill.happen();
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
    drill: async (drill) => {
      await drill.endpoint();
      await drill.happen();
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
    drill: fail,
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
    drill: fail,
    breaks: ['an event has one body'],
  },
  {
    name: 'a line that somebody has is taken by another',
    patches: [
      {
        file: LINES,
        find: 'l.failures = 0 and not l.behind and l.open and (l.claimed_until is null or l.claimed_until < clock_timestamp())',
        replace: 'l.failures = 0 and not l.behind and l.open',
      },
    ],
    // When the other endpoint has both, whoever looks for lines has seen this one too.
    drill: async (drill) => {
      const [endpoint, other] = [await drill.endpoint(), await drill.endpoint()];
      await drill.strike(endpoint, HELD_UP);
      await drill.happen();
      await drill.underWay(endpoint);
      await drill.happen();
      await drill.delivered(other, 2);
      await drill.clearFaults();
    },
    breaks: ['a line is one sender’s at a time'],
  },
  {
    name: 'what comes into a line is left to whoever has it',
    patches: [
      {
        file: LINES,
        find: 'set due_at = case when l.open then least(',
        replace: 'set due_at = case when l.open and l.claim_token is null then least(',
      },
    ],
    // Who has it looks for what is due before that is committed, and lets go of it afterwards.
    drill: async (drill) => {
      const endpoint = await drill.endpoint();
      await drill.strike(endpoint, HELD_UP);
      await drill.happen();
      await drill.underWay(endpoint);
      await drill.whileHeld(
        endpoint,
        () => drill.happen(),
        () => drill.clearFaults(),
      );
    },
    breaks: ['no line is forgotten'],
  },
  {
    name: 'what was held for a disabled endpoint stays where it is',
    patches: [
      {
        file: 'flows/manage-endpoints.ts',
        find: 'else if (update.status !== undefined || update.url !== undefined)',
        replace: 'else if (update.url !== undefined)',
      },
    ],
    drill: async (drill) => {
      const endpoint = await drill.endpoint();
      await drill.merchants.setStatus(endpoint, 'DISABLED');
      await drill.happen();
      await drill.dispatched();
      await drill.merchants.setStatus(endpoint, 'ENABLED');
    },
    breaks: [ARRIVES],
  },
];
