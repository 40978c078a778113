import type { InvariantCode } from '../src/checker/invariants.ts';
import { type Corruption, type Line, siblingId } from './corruption.ts';

/** An event and the sink that received it once. */
export interface WebhookSample {
  readonly eventId: string;
  readonly sink: string;
}

interface WebhookCorruption extends Corruption<WebhookSample> {
  /** The expected detail: some invariants can be violated in several ways. */
  readonly detail: string;
}

const SUBSCRIBED = 'only_subscribed_events_sent';
const SIGNED = 'every_request_signed';
const BODY = 'one_body_per_event';
const DELIVERED = 'delivered_means_acknowledged';
export const NOT_RESENT: InvariantCode = 'acknowledged_event_not_resent';
const DELIVERY_FINAL = 'every_delivery_final';

/** Not the delivery of a test event, which may fail. */
const A_DELIVERY = `(endpoint_id, event_id) = (select endpoint_id, event_id from caudal.webhook_deliveries where event_id in (select id from caudal.events where resource <> 'webhook') order by event_id, endpoint_id limit 1)`;

const isSample = (line: Line, { eventId, sink }: WebhookSample) =>
  line.kind === 'received' && line['id'] === eventId && line['sink'] === sink;

/** Changes the request of the sample. */
const changed =
  (changes: (line: Line) => object) =>
  (lines: readonly Line[], sample: WebhookSample): readonly Line[] =>
    lines.map((line) => (isSample(line, sample) ? { ...line, ...changes(line) } : line));

/** Adds a changed copy of the request of the sample. */
export const resend =
  (changes: (line: Line) => object) =>
  (lines: readonly Line[], sample: WebhookSample): readonly Line[] => [
    ...lines,
    ...lines.filter((line) => isSample(line, sample)).map((line) => ({ ...line, ...changes(line) })),
  ];

/** The incident of a worker that died at this time. */
export const died = (at: string): Line => ({ kind: 'died', at, name: 'worker 1' });

export const later = (line: Line, ms: number) => new Date(Date.parse(String(line['at'])) + ms).toISOString();

export const WEBHOOK_CORRUPTIONS: readonly WebhookCorruption[] = [
  {
    name: 'an event was never received',
    invariant: 'every_event_delivered',
    detail: 'the event was never acknowledged',
    sinks: (lines, sample) => lines.filter((line) => !isSample(line, sample)),
  },
  {
    name: 'an event was received but not acknowledged',
    invariant: 'every_event_delivered',
    detail: 'the event was never acknowledged',
    sinks: changed(() => ({ answered: 500 })),
  },
  {
    name: 'an endpoint received an unknown event id',
    invariant: 'sent_event_recorded',
    detail: 'the event id is not recorded',
    sinks: resend(() => ({ id: '00000000-0000-7000-8000-000000000000' })),
  },
  {
    name: 'a sent event is missing in the database',
    invariant: 'sent_event_recorded',
    detail: 'the event id is not recorded',
    sql: `delete from caudal.events where id = (select min(event_id::text) from caudal.webhook_deliveries)::uuid`,
  },
  {
    name: 'an unknown endpoint received a request',
    invariant: 'no_unexplained_records',
    detail: 'sent to an unknown endpoint',
    sinks: resend(() => ({ sink: 'unknown' })),
  },
  {
    name: "an event reached another merchant's endpoint",
    invariant: SUBSCRIBED,
    detail: "another merchant's event",
    sinks: resend(() => ({ sink: 'm1-all' })),
  },
  {
    name: 'an event reached an endpoint that is not subscribed to it',
    invariant: SUBSCRIBED,
    detail: 'an event it is not subscribed to',
    // The sample is the event of a payout.
    sinks: resend(() => ({ sink: 'm2-payins' })),
  },
  {
    name: 'an endpoint received an event older than itself',
    invariant: SUBSCRIBED,
    detail: 'an event older than the endpoint',
    sql: `update caudal.webhook_endpoints set created_at = created_at + interval '10 days' where description = 'm2-all'`,
  },
  {
    name: 'a test event reached another endpoint',
    invariant: SUBSCRIBED,
    detail: "another endpoint's test",
    sinks: (lines) => [
      ...lines,
      ...lines
        .filter((line) => line['event'] === 'webhook.test')
        .map((line) => ({ ...line, sink: 'm1-all' })),
    ],
    sql: `update caudal.events set organization_id = (select organization_id from caudal.webhook_endpoints where description = 'm1-all') where resource = 'webhook'`,
  },
  {
    name: 'a signature is invalid',
    invariant: SIGNED,
    detail: 'signed with none of its secrets',
    sinks: changed(() => ({ signature: `v1,${Buffer.alloc(32).toString('base64')}` })),
  },
  {
    name: 'the signed timestamp differs',
    invariant: SIGNED,
    detail: 'signed with none of its secrets',
    sinks: changed((line) => ({ timestamp: String(Number(line['timestamp']) + 1) })),
  },
  {
    name: 'a message has an old timestamp',
    invariant: SIGNED,
    detail: 'the timestamp does not match the attempt',
    sinks: changed((line) => ({ timestamp: String(Number(line['timestamp']) - 3600) })),
  },
  {
    name: "a request is signed with another endpoint's secret",
    invariant: SIGNED,
    detail: 'signed with none of its secrets',
    client: (lines) => {
      const other = lines.find((line) => line.kind === 'endpoint_created' && line['sink'] === 'm1-all');
      return lines.map((line) =>
        line.kind === 'endpoint_created' && line['sink'] === 'm2-all'
          ? { ...line, secret: other?.['secret'] }
          : line,
      );
    },
  },
  {
    name: 'a second attempt has another body',
    invariant: BODY,
    detail: 'sent with a different body',
    sinks: resend((line) => ({ bodyHash: 'another', at: later(line, 60_000) })),
  },
  {
    name: 'a body describes another event',
    invariant: BODY,
    detail: 'the body does not match the event',
    sinks: (lines, { eventId }) =>
      lines.map((line) =>
        line.kind === 'body' && String(line['text']).includes(eventId)
          ? { ...line, text: String(line['text']).replace('"id":', '"no":') }
          : line,
      ),
  },
  {
    name: 'an acknowledged event is resent within the lease',
    invariant: 'one_sender_per_queue',
    detail: 'sent again within the lease',
    sinks: resend((line) => ({ at: later(line, 500) })),
  },
  {
    name: 'an acknowledged event is resent without an incident',
    invariant: NOT_RESENT,
    detail: 'sent again without an incident or a replay',
    sinks: resend((line) => ({ at: later(line, 60_000) })),
  },
  {
    name: 'an acknowledged event is resent and the only incident was long before',
    invariant: NOT_RESENT,
    detail: 'sent again without an incident or a replay',
    sinks: resend((line) => ({ at: later(line, 60_000) })),
    incidents: () => [died('2026-01-01T00:00:00.000Z')],
  },
  {
    name: 'an acknowledged event is resent and the only incident was afterward',
    invariant: NOT_RESENT,
    detail: 'sent again without an incident or a replay',
    sinks: resend((line) => ({ at: later(line, 60_000) })),
    incidents: () => [died('2100-01-01T00:00:00.000Z')],
  },
  {
    name: 'an acknowledged event is resent and another event was replayed',
    invariant: NOT_RESENT,
    detail: 'sent again without an incident or a replay',
    sinks: resend((line) => ({ at: later(line, 60_000) })),
    client: (lines) => [
      ...lines,
      {
        kind: 'replay_requested',
        at: new Date().toISOString(),
        eventId: '00000000-0000-7000-8000-000000000000',
      },
    ],
  },
  {
    name: 'a disabled endpoint received a request',
    invariant: 'disabled_endpoint_receives_nothing',
    detail: 'sent to a disabled endpoint',
    client: (lines) => {
      const created = lines.find((line) => line.kind === 'endpoint_created' && line['sink'] === 'm2-all');
      const endpointId = created?.['endpointId'];
      const at = later(created ?? { kind: '' }, -3_600_000);
      return [...lines, { kind: 'endpoint_status_set', at, endpointId, status: 'DISABLED' }];
    },
  },
  {
    name: 'a delivery is marked delivered although no sink acknowledged it',
    invariant: DELIVERED,
    detail: 'delivered, but no sink acknowledged it',
    sinks: changed(() => ({ answered: 500 })),
  },
  {
    name: 'a recorded attempt never happened',
    invariant: DELIVERED,
    detail: 'attempts with a response that no sink sent',
    sql: `insert into caudal.webhook_attempts select (jsonb_populate_record(r, jsonb_build_object('number', 77))).* from caudal.webhook_attempts r where ${A_DELIVERY} and number = 1`,
  },
  {
    name: 'a queue is stalled',
    invariant: 'no_stalled_queue',
    detail: 'the queue holds events but is not scheduled',
    sql: `update caudal.webhook_deliveries set status = 'PENDING', ended_at = null, next_attempt_at = caudal.now() where ${A_DELIVERY};
      update caudal.webhook_queues set due_at = null, leased_until = null, lease_token = null`,
  },
  {
    name: 'an event is not dispatched',
    invariant: DELIVERY_FINAL,
    detail: 'an undispatched event',
    sql: `update caudal.events set undispatched = true where id = (select id from caudal.events order by id limit 1)`,
  },
  {
    name: 'a delivery is still pending',
    invariant: DELIVERY_FINAL,
    detail: 'a delivery is PENDING',
    sql: `update caudal.webhook_deliveries set status = 'PENDING', ended_at = null, next_attempt_at = caudal.now() + interval '1 day' where ${A_DELIVERY}`,
  },
  {
    name: 'a delivery failed',
    invariant: DELIVERY_FINAL,
    detail: 'a delivery is FAILED',
    sql: `update caudal.webhook_deliveries set status = 'FAILED' where ${A_DELIVERY}`,
  },
  {
    name: 'a queue is still leased',
    invariant: DELIVERY_FINAL,
    detail: 'a queue is still leased',
    sql: `update caudal.webhook_queues set leased_until = clock_timestamp() + interval '1 minute', lease_token = gen_random_uuid()`,
  },
  {
    name: 'a final payout has two events',
    invariant: 'one_event_per_final_payout',
    detail: 'CONFIRMED with 2 events and 1 final events',
    sql: `insert into caudal.events select (jsonb_populate_record(r, jsonb_build_object('id', ${siblingId('r.id')}))).*
      from caudal.events r where event = 'payout.confirmed' limit 1`,
  },
];
