import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { EVENT_SCHEMAS } from '../../server/src/http/api/event.schema.ts';
import { EVENT_DATA } from '../../server/src/http/api/event-data.schema.ts';
import {
  type CaudalEvent,
  EVENT_NAMES,
  type EventName,
  WebhookVerificationError,
  webhooks,
} from '../src/index.ts';
import { thrownBy } from './faulty-server.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD';
/** A fixed time: a slow machine would verify a timestamp close to the limit after the limit. */
const NOW = new Date('2026-11-20T12:00:00Z');

describe('compatibility with the Standard Webhooks library', () => {
  it('the library verifies signatures of the SDK', async () => {
    const { body, headers } = await webhooks.testDelivery({ event: 'payin.confirmed', secret: SECRET });
    expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ event: 'payin.confirmed' });
    expect(() => new Webhook(OTHER).verify(body, headers)).toThrow(/No matching signature/);
  });

  it('the SDK verifies signatures of the library', async () => {
    const { body } = await webhooks.testDelivery({ event: 'payout.declined', secret: OTHER });
    const { id } = JSON.parse(body) as { id: string };
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': String(NOW.getTime() / 1000),
      'webhook-signature': new Webhook(SECRET).sign(id, NOW, body),
    };
    expect((await webhooks.unwrap(body, headers, SECRET, { now: NOW })).event).toBe('payout.declined');
  });

  it('both compute the same signature, also for non-ASCII text', async () => {
    const at = new Date(1_800_000_000_000);
    const headers = await webhooks.sign({ body: '{"n":"Muñoz ✓"}', secret: SECRET, id: 'm1', timestamp: at });
    expect(headers['webhook-signature']).toBe(new Webhook(SECRET).sign('m1', at, '{"n":"Muñoz ✓"}'));
  });
});

describe('unwrap', () => {
  it('accepts text and bytes, and all header types', async () => {
    const { body, headers } = await webhooks.testDelivery({ event: 'payin.confirmed', secret: SECRET });
    const bytes = new TextEncoder().encode(body);
    const upper = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
    );
    const lists = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]]));
    const given: [Parameters<typeof webhooks.unwrap>[0], Parameters<typeof webhooks.unwrap>[1]][] = [
      [body, headers],
      [bytes, new Headers(headers)],
      [Buffer.from(body), upper],
      [bytes.buffer, lists],
    ];
    for (const [raw, shape] of given)
      expect((await webhooks.unwrap(raw, shape, SECRET)).event).toBe('payin.confirmed');
  });

  it('accepts any of several secrets and signatures', async () => {
    const { body, headers } = await webhooks.testDelivery({
      event: 'payin.confirmed',
      secret: [OTHER, SECRET],
    });
    const single = await webhooks.testDelivery({ event: 'payin.confirmed', secret: SECRET });
    const newer = `v2,abc v1a,def ${single.headers['webhook-signature']}`;
    const taken = await Promise.all([
      webhooks.unwrap(body, headers, SECRET),
      webhooks.unwrap(body, headers, OTHER),
      webhooks.unwrap(single.body, single.headers, [OTHER, SECRET]),
      webhooks.unwrap(single.body, { ...single.headers, 'webhook-signature': newer }, SECRET),
    ]);
    expect(taken.map(({ event }) => event)).toEqual(taken.map(() => 'payin.confirmed'));
  });

  it.each([
    ['signature_mismatch', 'another secret', (): Change => ({ secret: OTHER })],
    [
      'signature_mismatch',
      'another body',
      (): Change => ({ body: (text) => text.replace('order', 'Order') }),
    ],
    ['signature_mismatch', 'another id', (): Change => ({ headers: { 'webhook-id': 'x' } })],
    [
      'signature_mismatch',
      'a signature cut short',
      (): Change => ({ headers: { 'webhook-signature': 'v1,AAAA' } }),
    ],
    ['signature_mismatch', 'no base64', (): Change => ({ headers: { 'webhook-signature': 'v1,*' } })],
    ['timestamp_too_old', 'six minutes', (): Change => ({ agoSeconds: 301 })],
    ['timestamp_too_new', 'six minutes ahead', (): Change => ({ agoSeconds: -301 })],
    ['headers_missing', 'no id', (): Change => ({ headers: { 'webhook-id': undefined } })],
    ['headers_missing', 'no signature', (): Change => ({ headers: { 'webhook-signature': undefined } })],
    ['headers_missing', 'a time that is none', (): Change => ({ headers: { 'webhook-timestamp': 'soon' } })],
    ['body_not_raw', 'a parsed body', (): Change => ({ body: (text) => JSON.parse(text) as string })],
  ] as const)('throws %s for %s', async (reason, _, change) => {
    const error = await thrownBy(changed(change()));
    expect(error).toBeInstanceOf(WebhookVerificationError);
    expect(error).toMatchObject({ reason, outcomeUnknown: false });
    expect(String(error)).not.toContain(SECRET);
  });

  it('accepts timestamps within five minutes', async () => {
    expect((await changed({ agoSeconds: 300 })).event).toBe('payin.confirmed');
    expect((await changed({ agoSeconds: -300 })).event).toBe('payin.confirmed');
  });

  it.each(['not json', '[]', 'null', '{"event":"x"}', '{"id":"m2","event":"x","data":{}}'])(
    'rejects a signed body that is not an event: %s',
    async (body) => {
      const headers = await webhooks.sign({ body, secret: SECRET, id: 'm1' });
      expect(await thrownBy(webhooks.unwrap(body, headers, SECRET))).toMatchObject({
        reason: 'body_not_an_event',
      });
    },
  );

  it.each([
    ['an unknown event', { event: 'payin.disputed', resource: 'payin' }],
    ['an unknown resource', { event: 'refund.confirmed', resource: 'refund', data: { id: 'r1' } }],
    ['unknown fields', { version: 2, data: { reference: 'order-1', metadata: { color: 'red' } } }],
  ])('accepts %s, because a newer server may send it', async (_, changes) => {
    const { body } = await webhooks.testDelivery({ event: 'payin.confirmed', secret: SECRET });
    const event = { ...(JSON.parse(body) as CaudalEvent), ...changes };
    const text = JSON.stringify(event);
    const headers = await webhooks.sign({ body: text, secret: SECRET, id: event.id });
    expect(await webhooks.unwrap(text, headers, SECRET)).toEqual(event);
  });

  it('throws TypeError for an invalid secret', async () => {
    expect(await thrownBy(changed({ secret: 'whsec_' }))).toBeInstanceOf(TypeError);
    expect(await thrownBy(changed({ secret: 'whsec_***' }))).toBeInstanceOf(TypeError);
  });

  it.each([[undefined], [''], [[]], [[undefined]]])(
    'throws TypeError for the missing secret %o',
    async (secret) => {
      const { body, headers } = await webhooks.testDelivery({ event: 'payin.confirmed', secret: SECRET });
      const error = await thrownBy(webhooks.unwrap(body, headers, secret as unknown as string));
      expect(error).toBeInstanceOf(TypeError);
      expect(String(error)).toContain('the webhook secret is missing');
    },
  );
});

interface Change {
  readonly secret?: string | readonly string[];
  readonly body?: (text: string) => string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly agoSeconds?: number;
}

async function changed(change: Change): Promise<CaudalEvent> {
  const at = new Date(NOW.getTime() - (change.agoSeconds ?? 0) * 1000);
  const { body, headers } = await webhooks.testDelivery({ event: 'payin.confirmed', secret: SECRET, at });
  const given = change.body ? change.body(body) : body;
  const secret = change.secret ?? SECRET;
  return webhooks.unwrap(given, { ...headers, ...change.headers }, secret, { now: NOW });
}

describe('testDelivery', () => {
  it.each(EVENT_NAMES)('has the fields and status of a real %s event', async (event) => {
    const { body, headers } = await webhooks.testDelivery({ event, secret: SECRET });
    const unwrapped = await webhooks.unwrap(body, headers, SECRET);
    const [resource = '', outcome = ''] = event.split('.');
    const status = resource === 'api_key' ? {} : { status: outcome.toUpperCase() };
    expect(unwrapped).toMatchObject({ event, resource, data: status });
    expect(EVENT_SCHEMAS[event].parse(unwrapped)).toEqual(unwrapped);
    expect(Object.keys(unwrapped.data)).toEqual(Object.keys(EVENT_DATA[event].shape));
    expect(headers['webhook-id']).toBe(unwrapped.id);
    expect(unwrapped.id.charAt(14)).toBe('7');
  });

  it('has one time in the envelope and in the data', async () => {
    const at = new Date('2027-01-02T03:04:05.678Z');
    const { body } = await webhooks.testDelivery({ event: 'payout.declined', secret: SECRET, at });
    const time = at.toISOString();
    expect(JSON.parse(body)).toMatchObject({ createdAt: time, data: { updatedAt: time, resultAt: time } });
  });

  it('applies overrides', async () => {
    const { body } = await webhooks.testDelivery({
      event: 'payin.confirmed',
      secret: SECRET,
      data: { reference: 'order-7', confirmedAmountInCents: 5 },
    });
    expect(JSON.parse(body)).toMatchObject({ data: { reference: 'order-7', confirmedAmountInCents: 5 } });
  });
});

it('Event types narrow by event name', () => {
  const paid = (event: CaudalEvent): number | null =>
    event.event === 'payin.confirmed' ? event.data.confirmedAmountInCents : null;
  // A compile error when openapi.json has an event without a type, or a type has no event.
  const named: Record<Exclude<CaudalEvent['event'], 'webhook.test'>, true> = {} as Record<EventName, true>;
  const typed: Record<EventName, true> = named;
  expect(paid).toBeTypeOf('function');
  expect(typed).toEqual({});
});
