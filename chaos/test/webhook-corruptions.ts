import { BASELINE, type Damage, type Line } from './damage.ts';

/** An event, and the sink of an endpoint that received it once. */
export interface WebhookSample {
  readonly eventId: string;
  readonly sink: string;
}

interface WebhookDamage extends Damage<WebhookSample> {
  /** What exactly is to be told: several promises can be broken in more than one way. */
  readonly what: string;
}

const WANTED = 'an endpoint gets what it wants and nothing else';
const SIGNED = 'every request is signed';
const BODY = 'an event has one body';
const DELIVERED = 'delivered means acknowledged';
export const ONCE = 'what was acknowledged is not sent again';
const ENDS = 'every delivery comes to its end';

/** Not of a test: that may fail. */
const A_DELIVERY = `(endpoint_id, event_id) = (select endpoint_id, event_id from caudal.webhook_deliveries where event_id in (select id from caudal.events where resource <> 'webhook') order by event_id, endpoint_id limit 1)`;

const isIt = (line: Line, { eventId, sink }: WebhookSample) =>
  line.kind === 'received' && line['id'] === eventId && line['sink'] === sink;

/** The request of the sample with something changed. */
const changed =
  (changes: (line: Line) => object) =>
  (lines: readonly Line[], sample: WebhookSample): readonly Line[] =>
    lines.map((line) => (isIt(line, sample) ? { ...line, ...changes(line) } : line));

/** It came once more, with something changed. */
export const again =
  (changes: (line: Line) => object) =>
  (lines: readonly Line[], sample: WebhookSample): readonly Line[] => [
    ...lines,
    ...lines.filter((line) => isIt(line, sample)).map((line) => ({ ...line, ...changes(line) })),
  ];

/** A worker, at this time. */
export const died = (at: string): Line => ({ kind: 'died', at, name: 'worker 1' });

export const later = (line: Line, ms: number) => new Date(Date.parse(String(line['at'])) + ms).toISOString();

export const WEBHOOK_DAMAGES: readonly WebhookDamage[] = [
  {
    name: 'an event never arrived',
    promise: 'every event reaches every endpoint that wants it',
    what: 'it was never acknowledged',
    sinks: (lines, sample) => lines.filter((line) => !isIt(line, sample)),
  },
  {
    name: 'an event arrived and was not acknowledged',
    promise: 'every event reaches every endpoint that wants it',
    what: 'it was never acknowledged',
    sinks: changed(() => ({ answered: 500 })),
  },
  {
    name: 'an event of which nobody has an event reached an endpoint',
    promise: 'what is sent is an event that was recorded',
    what: 'an id under which nothing was recorded',
    sinks: again(() => ({ id: '00000000-0000-7000-8000-000000000000' })),
  },
  {
    name: 'a recorded event that was sent is gone',
    promise: 'what is sent is an event that was recorded',
    what: 'an id under which nothing was recorded',
    sql: `delete from caudal.events where id = (select min(event_id::text) from caudal.webhook_deliveries)::uuid`,
  },
  {
    name: 'an endpoint that nobody has is sent something',
    promise: 'nothing from nowhere',
    what: 'sent to an endpoint that no merchant has',
    sinks: again(() => ({ sink: 'nobody' })),
  },
  {
    name: "an event reached another merchant's endpoint",
    promise: WANTED,
    what: "another merchant's event",
    sinks: again(() => ({ sink: 'm1-all' })),
  },
  {
    name: 'an event reached an endpoint that did not ask for it',
    promise: WANTED,
    what: 'an event that it did not ask for',
    // It is of a payout.
    sinks: again(() => ({ sink: 'm2-payins' })),
  },
  {
    name: 'a later endpoint got an event from before',
    promise: WANTED,
    what: 'an event from before it was there',
    sql: `update caudal.webhook_endpoints set created_at = created_at + interval '10 days' where description = 'm2-all'`,
  },
  {
    name: 'a test went to another endpoint than its own',
    promise: WANTED,
    what: "another endpoint's test",
    sinks: (lines) => [
      ...lines,
      ...lines
        .filter((line) => line['event'] === 'webhook.test')
        .map((line) => ({ ...line, sink: 'm1-all' })),
    ],
    sql: `update caudal.events set organization_id = (select organization_id from caudal.webhook_endpoints where description = 'm1-all') where resource = 'webhook'`,
  },
  {
    name: 'a signature is by nobody',
    promise: SIGNED,
    what: 'by none of its secrets',
    sinks: changed(() => ({ signature: `v1,${Buffer.alloc(32).toString('base64')}` })),
  },
  {
    name: 'what was signed is another timestamp',
    promise: SIGNED,
    what: 'by none of its secrets',
    sinks: changed((line) => ({ timestamp: String(Number(line['timestamp']) + 1) })),
  },
  {
    name: 'a message is signed anew with an old timestamp',
    promise: SIGNED,
    what: 'its timestamp is not of its attempt',
    sinks: changed((line) => ({ timestamp: String(Number(line['timestamp']) - 3600) })),
  },
  {
    name: 'the secret of another endpoint signed',
    promise: SIGNED,
    what: 'by none of its secrets',
    client: (lines) => {
      const other = lines.find((line) => line.kind === 'endpoint created' && line['sink'] === 'm1-all');
      return lines.map((line) =>
        line.kind === 'endpoint created' && line['sink'] === 'm2-all'
          ? { ...line, secret: other?.['secret'] }
          : line,
      );
    },
  },
  {
    name: 'a second attempt had another body',
    promise: BODY,
    what: 'sent with another body than before',
    sinks: again((line) => ({ bodyHash: 'another', at: later(line, 60_000) })),
  },
  {
    name: 'a body tells of another event',
    promise: BODY,
    what: 'its body tells of something else',
    sinks: (lines, { eventId }) =>
      lines.map((line) =>
        line.kind === 'body' && String(line['text']).includes(eventId)
          ? { ...line, text: String(line['text']).replace('"id":', '"no":') }
          : line,
      ),
  },
  {
    name: 'an acknowledged event comes again at once',
    promise: 'a line is one sender’s at a time',
    what: 'sent again while it was under way',
    sinks: again((line) => ({ at: later(line, 500) })),
  },
  {
    name: 'an acknowledged event comes again a minute later, and nobody died',
    promise: ONCE,
    what: 'sent again, and nothing had gone wrong',
    sinks: again((line) => ({ at: later(line, 60_000) })),
  },
  {
    name: 'an acknowledged event comes again, and who died did so long before',
    promise: ONCE,
    what: 'sent again, and nothing had gone wrong',
    sinks: again((line) => ({ at: later(line, 60_000) })),
    incidents: () => [died('2026-01-01T00:00:00.000Z')],
  },
  {
    name: 'an acknowledged event comes again, and who died did so afterwards',
    promise: ONCE,
    what: 'sent again, and nothing had gone wrong',
    sinks: again((line) => ({ at: later(line, 60_000) })),
    incidents: () => [died('2100-01-01T00:00:00.000Z')],
  },
  {
    name: 'an acknowledged event comes again, and another one was replayed',
    promise: ONCE,
    what: 'sent again, and nothing had gone wrong',
    sinks: again((line) => ({ at: later(line, 60_000) })),
    client: (lines) => [
      ...lines,
      { kind: 'replay asked', at: new Date().toISOString(), eventId: '00000000-0000-7000-8000-000000000000' },
    ],
  },
  {
    name: 'a disabled endpoint is sent something',
    promise: 'what is for a disabled endpoint is held',
    what: 'sent to it',
    client: (lines) => {
      const created = lines.find((line) => line.kind === 'endpoint created' && line['sink'] === 'm2-all');
      const endpointId = created?.['endpointId'];
      const at = later(created ?? { kind: '' }, -3_600_000);
      return [...lines, { kind: 'endpoint status set', at, endpointId, status: 'DISABLED' }];
    },
  },
  {
    name: 'a delivery is called delivered that no sink acknowledged',
    promise: DELIVERED,
    what: 'delivered, and no sink acknowledged it',
    sinks: changed(() => ({ answered: 500 })),
  },
  {
    name: 'an attempt is written down that never was',
    promise: DELIVERED,
    what: 'attempts that were answered, and no sink answered so',
    sql: `insert into caudal.webhook_attempts select (jsonb_populate_record(r, jsonb_build_object('number', 77))).* from caudal.webhook_attempts r where ${A_DELIVERY} and number = 1`,
  },
  {
    name: 'a line is forgotten',
    promise: 'no line is forgotten',
    what: 'it holds events and nobody will look',
    sql: `update caudal.webhook_deliveries set status = 'PENDING', ended_at = null, next_attempt_at = caudal.now() where ${A_DELIVERY};
      update caudal.webhook_queues set due_at = null, leased_until = null, lease_token = null`,
  },
  {
    name: 'an event is not dispatched',
    promise: ENDS,
    what: 'an event that nobody dispatched',
    sql: `update caudal.events set undispatched = true where id = (select id from caudal.events order by id limit 1)`,
  },
  {
    name: 'a delivery is still waiting',
    promise: ENDS,
    what: 'a delivery is PENDING',
    sql: `update caudal.webhook_deliveries set status = 'PENDING', ended_at = null, next_attempt_at = caudal.now() + interval '1 day' where ${A_DELIVERY}`,
  },
  {
    name: 'a delivery was given up',
    promise: ENDS,
    what: 'a delivery is FAILED',
    sql: `update caudal.webhook_deliveries set status = 'FAILED' where ${A_DELIVERY}`,
  },
  {
    name: 'a line is still claimed',
    promise: ENDS,
    what: 'a line is still claimed',
    sql: `update caudal.webhook_queues set leased_until = clock_timestamp() + interval '1 minute', lease_token = gen_random_uuid()`,
  },
  {
    name: 'a final state of a payout has two events',
    promise: 'one event per final state of a payout',
    what: 'CONFIRMED with 2 events and 1 final events',
    sql: `insert into caudal.events select (jsonb_populate_record(r, jsonb_build_object('id', ${BASELINE('r.id')}))).*
      from caudal.events r where event = 'payout.confirmed' limit 1`,
  },
];
