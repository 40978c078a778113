import { describe, expect, it } from 'vitest';
import { type CaudalEvent, type WebhookVerificationError, webhooks } from '../src/index.ts';
import { thrownBy } from './faulty-server.ts';

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const OTHER = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';

const genuine = (secret = SECRET) => webhooks.testDelivery({ event: 'payin.confirmed', secret });

async function post(headers: Record<string, string>, body: string): Promise<Request> {
  return new Request('https://shop.example.com/webhooks', { method: 'POST', headers, body });
}

describe('webhooks.receiver', () => {
  it('responds 204 after onEvent has finished', async () => {
    const order: string[] = [];
    const receive = webhooks.receiver({
      secret: SECRET,
      onEvent: async (event) => {
        await Promise.resolve();
        order.push(event.event);
      },
    });
    const { body, headers } = await genuine();
    const result = await receive(body, headers);
    order.push(`responded ${result.status}`);
    expect(order).toEqual(['payin.confirmed', 'responded 204']);
    expect((await receive(new TextEncoder().encode(body), headers)).status).toBe(204);
  });

  it.each([
    ['signed with another secret', async () => genuine(OTHER), 'signature_mismatch'],
    [
      'changed',
      async () => {
        const { body, headers } = await genuine();
        return { body: body.replace('order', 'ordre'), headers };
      },
      'signature_mismatch',
    ],
    [
      'replayed after six minutes',
      async () =>
        webhooks.testDelivery({
          event: 'payin.confirmed',
          secret: SECRET,
          at: new Date(Date.now() - 360_000),
        }),
      'timestamp_too_old',
    ],
    ['without a signature', async () => ({ body: '{}', headers: {} }), 'headers_missing'],
    [
      'without a body',
      async () => ({ body: undefined, headers: { ...(await genuine()).headers, 'content-length': '0' } }),
      'signature_mismatch',
    ],
  ])('responds 400 to a delivery %s, and does not call onEvent', async (_, delivery, reason) => {
    const events: CaudalEvent[] = [];
    const rejected: WebhookVerificationError[] = [];
    const receive = webhooks.receiver({
      secret: SECRET,
      onEvent: (event) => events.push(event),
      onRejected: (error) => rejected.push(error),
    });
    const { body, headers } = await delivery();
    expect(await receive(body, headers)).toEqual({ status: 400, body: reason });
    expect(events).toEqual([]);
    expect(rejected.map((error) => error.reason)).toEqual([reason]);
  });

  it('throws what onEvent throws, so that the delivery is repeated', async () => {
    const failure = new Error('the database is down');
    const receive = webhooks.receiver({ secret: SECRET, onEvent: () => Promise.reject(failure) });
    const { body, headers } = await genuine();
    expect(await thrownBy(receive(body, headers))).toBe(failure);
  });

  it('throws instead of responding 400 when a framework has parsed the body', async () => {
    const rejected: unknown[] = [];
    const receive = webhooks.receiver({
      secret: SECRET,
      onEvent: () => undefined,
      onRejected: (error) => rejected.push(error),
    });
    const { body, headers } = await genuine();
    const parsed = JSON.parse(body) as string;
    expect(await thrownBy(receive(parsed, headers))).toMatchObject({ reason: 'body_not_raw' });
    const sized = { 'content-length': String(body.length) };
    expect(await thrownBy(receive(undefined, { ...headers, ...sized }))).toMatchObject({
      reason: 'body_not_raw',
    });
    expect(rejected).toEqual([]);
    expect(await receive(undefined, sized)).toEqual({ status: 400, body: 'headers_missing' });
  });

  it('reads the secret for each delivery when it is a function, and throws TypeError when there is none', async () => {
    const secrets: (string | string[] | undefined)[] = [undefined, 'cdl_test_x', [OTHER, SECRET]];
    const receive = webhooks.receiver({
      secret: () => Promise.resolve(secrets.shift()),
      onEvent: () => undefined,
    });
    const { body, headers } = await genuine();
    expect(await thrownBy(receive(body, headers))).toBeInstanceOf(TypeError);
    expect(await thrownBy(receive(body, headers))).toBeInstanceOf(TypeError);
    expect((await receive(body, headers)).status).toBe(204);
  });

  const onEvent = () => undefined;
  it.each([
    [{ onEvent }, /^the webhook secret is missing/],
    [{ secret: '', onEvent }, /^the webhook secret is missing/],
    [{ secret: [SECRET, undefined], onEvent }, /^the webhook secret is missing/],
    [{ secret: 'cdl_test_0123_key', onEvent }, /^invalid webhook secret/],
    [{ secret: SECRET }, /needs onEvent/],
    [{ secret: SECRET, onEvent: 'x' }, /needs onEvent/],
    [{ secret: SECRET, onEvent, onRejected: 5 }, /^onRejected must be a function, not the number 5$/],
    [{ secret: SECRET, onEvents: onEvent }, /has no option onEvents; it has secret, onEvent, onRejected$/],
    [undefined, /takes an object with options, not undefined$/],
  ])('throws TypeError at the start for the options %o', (options, message) => {
    const make = () => webhooks.receiver(options as unknown as webhooks.ReceiverOptions);
    expect(make).toThrow(TypeError);
    expect(make).toThrow(message);
  });
});

describe('webhooks.handler', () => {
  it('responds to a Request with a Response', async () => {
    const events: string[] = [];
    const handle = webhooks.handler({ secret: SECRET, onEvent: ({ event }) => events.push(event) });
    const { body, headers } = await genuine();
    const accepted = await handle(await post(headers, body));
    expect([accepted.status, await accepted.text()]).toEqual([204, '']);
    const rejected = await handle(await post(headers, `${body} `));
    expect([rejected.status, await rejected.text()]).toEqual([400, 'signature_mismatch']);
    expect(events).toEqual(['payin.confirmed']);
  });

  it('responds 405 to other methods', async () => {
    const handle = webhooks.handler({ secret: SECRET, onEvent: () => undefined });
    const response = await handle(new Request('https://shop.example.com/webhooks'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  it('stops reading a body that is larger than any event', async () => {
    const handle = webhooks.handler({ secret: SECRET, onEvent: () => undefined });
    let pulled = 0;
    const body = new ReadableStream({
      pull(controller) {
        pulled += 1;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const headers = new Headers((await genuine()).headers);
    expect((await handle({ method: 'POST', headers, body })).status).toBe(413);
    expect(pulled).toBeLessThan(30);
  });

  it('rejects when onEvent rejects: the platform responds 500', async () => {
    const handle = webhooks.handler({ secret: SECRET, onEvent: () => Promise.reject(new Error('down')) });
    const { body, headers } = await genuine();
    await expect(handle(await post(headers, body))).rejects.toThrow('down');
  });
});
