import { randomInt } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isLoopbackAddress } from '../../src/webhooks/sending/public-address.ts';
import {
  type SenderOptions,
  type SendResult,
  WebhookSender,
} from '../../src/webhooks/sending/webhook-sender.ts';
import { type DnsQuestion, type DnsRecord, type DnsServer, startDnsServer } from '../harness/dns-server.ts';
import { OK, type RawPeer, startRawPeer } from '../harness/raw-peer.ts';
import { until } from '../harness/until.ts';
import { OUTSIDE, openWebhookDriver } from '../harness/webhook-driver.ts';

const NAME = 'hooks.shop.example';
const driver = openWebhookDriver();

/**
 * A receiver outside and canaries inside, all on one port: only the address tells them apart. None that the system gives
 * away: one that is free outside may be somebody's inside, or be called by somebody whose peer had it before.
 */
async function street(): Promise<{ outside: RawPeer; canaries: RawPeer[] }> {
  for (;;) {
    const port = randomInt(10_000, 15_000);
    const peers: RawPeer[] = [];
    try {
      for (const host of [OUTSIDE, '127.0.0.1', '127.0.0.8', '::1'])
        peers.push(await startRawPeer((socket) => socket.write(OK), { host, port }));
    } catch (error) {
      await Promise.all(peers.map((peer) => peer.stop()));
      if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
      continue;
    }
    driver.later(() => Promise.all(peers.map((peer) => peer.stop())));
    const [outside, ...canaries] = peers;
    if (outside) return { outside, canaries };
  }
}

async function nameServer(
  answer: (question: DnsQuestion) => readonly DnsRecord[] | null,
): Promise<DnsServer> {
  const dns = await startDnsServer(answer);
  driver.later(() => dns.stop());
  return dns;
}

function senderBy(dns: DnsServer, options: SenderOptions = {}): WebhookSender {
  return driver.sender({ resolve: dns.resolve, ...options });
}

function post(from: WebhookSender, port: number, host = NAME): Promise<SendResult> {
  return from.send({ url: `http://${host}:${port}/`, headers: {}, body: Buffer.from('{}') });
}

const a = (data: string, name?: string): DnsRecord => ({ type: 'A', data, ...(name ? { name } : {}) });
const aaaa = (data: string, name?: string): DnsRecord => ({ type: 'AAAA', data, ...(name ? { name } : {}) });
const alias = (name: string, data: string): DnsRecord => ({ type: 'CNAME', name, data });

/** Answers to questions for A and for AAAA. */
function records(four: readonly DnsRecord[], six: readonly DnsRecord[] = []) {
  return ({ type }: DnsQuestion) => (type === 'A' ? four : six);
}

describe('a name', () => {
  it('that leads outside is reached there, with its own name as host, and resolved once', async () => {
    const { outside, canaries } = await street();
    const dns = await nameServer(records([a(OUTSIDE)]));
    expect(await post(senderBy(dns), outside.port)).toMatchObject({ kind: 'answered', status: 200 });
    expect(outside.requests[0]?.text).toContain(`\r\nhost: ${NAME}:${outside.port}\r\n`);
    expect(dns.asked.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([
      `${NAME} A`,
      `${NAME} AAAA`,
    ]);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it.each([
    ['leads inside', records([a('127.0.0.1')])],
    ['leads inside by IPv6', records([], [aaaa('::1')])],
    ['leads inside by a mapped address', records([], [aaaa('0:0:0:0:0:ffff:7f00:7')])],
    ['leads outside and inside', records([a(OUTSIDE), a('127.0.0.1')])],
    ['leads inside and outside', records([a('127.0.0.1'), a(OUTSIDE)])],
    [
      'leads outside many times and inside once',
      records([...Array.from({ length: 9 }, () => a(OUTSIDE)), a('127.0.0.8')]),
    ],
    ['leads outside, by IPv6 inside', records([a(OUTSIDE)], [aaaa('::1')])],
    [
      'is an alias of a name inside',
      records([alias(NAME, 'db.inside.example'), a('127.0.0.1', 'db.inside.example')]),
    ],
    [
      'is an alias of an alias of a name inside',
      records([
        alias(NAME, 'one.example'),
        alias('one.example', 'two.example'),
        alias('two.example', 'three.example'),
        a('127.0.0.8', 'three.example'),
      ]),
    ],
    [
      'is an alias by IPv6 alone of a name inside',
      records([a(OUTSIDE)], [alias(NAME, 'six.example'), aaaa('::1', 'six.example')]),
    ],
  ])('that %s is refused, and nobody is connected to', async (_name, answer) => {
    const { outside, canaries } = await street();
    const dns = await nameServer(answer);
    const result = await post(senderBy(dns), outside.port);
    expect(result).toMatchObject({ kind: 'failed', reason: 'refused_address' });
    expect([outside, ...canaries].map((peer) => peer.connections)).toEqual([0, 0, 0, 0]);
  });

  it('that is an alias of a name outside is reached', async () => {
    const { outside } = await street();
    const dns = await nameServer(records([alias(NAME, 'cdn.example'), a(OUTSIDE, 'cdn.example')]));
    expect(await post(senderBy(dns), outside.port)).toMatchObject({ kind: 'answered' });
  });

  it('that leads outside when it is asked first and inside ever after is not asked again', async () => {
    const { outside, canaries } = await street();
    const dns = await nameServer(({ type, before }) =>
      type === 'AAAA' ? [] : [a(before === 0 ? OUTSIDE : '127.0.0.1')],
    );
    const from = senderBy(dns, { lifeMs: 0 });
    expect(await post(from, outside.port)).toMatchObject({ kind: 'answered' });
    expect(dns.asked).toHaveLength(2);
    // The next connection asks again, and is refused.
    expect(await post(from, outside.port)).toMatchObject({ kind: 'failed', reason: 'refused_address' });
    expect(outside.connections).toBe(1);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it('that turns inside while a connection waits keeps that connection, which leads where it was vetted', async () => {
    const { outside, canaries } = await street();
    const dns = await nameServer(({ type, before }) =>
      type === 'AAAA' ? [] : [a(before === 0 ? OUTSIDE : '127.0.0.1')],
    );
    const from = senderBy(dns);
    for (let time = 0; time < 3; time += 1)
      expect(await post(from, outside.port)).toMatchObject({ status: 200 });
    expect(outside.connections).toBe(1);
    expect(outside.requests).toHaveLength(3);
    expect(dns.asked).toHaveLength(2);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it('that flips at every question is reached outside or refused, and never reached inside', async () => {
    const { outside, canaries } = await street();
    const dns = await nameServer(({ type, before }) =>
      type === 'AAAA' ? [] : [a(before % 2 === 0 ? OUTSIDE : '127.0.0.8')],
    );
    const from = senderBy(dns, { lifeMs: 0 });
    const results = await Promise.all(Array.from({ length: 40 }, () => post(from, outside.port)));
    const refused = results.filter((result) => result.kind === 'failed');
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every((result) => result.reason === 'refused_address')).toBe(true);
    expect(outside.connections).toBe(40 - refused.length);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it('without an address is told as such', async () => {
    const dns = await nameServer(records([]));
    expect(await post(senderBy(dns), 80)).toMatchObject({ kind: 'failed', reason: 'dns' });
  });

  it('whose server does not answer is given up by the deadline of the connection', async () => {
    const dns = await nameServer(() => null);
    const result = await post(senderBy(dns, { connectMs: 300 }), 80);
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout' });
    expect(result.durationMs).toBeLessThan(3000);
  });

  it('whose address comes after the deadline is not connected to any more', async () => {
    const { outside } = await street();
    let answerNow: (addresses: string[]) => void = () => undefined;
    const resolve = () =>
      new Promise<string[]>((done) => {
        answerNow = done;
      });
    const from = driver.sender({ resolve, connectMs: 100 });
    expect(await post(from, outside.port)).toMatchObject({ kind: 'failed', reason: 'timeout' });
    answerNow([OUTSIDE]);
    // Another delivery goes all the way meanwhile, so that the first would have had the time to connect.
    const dns = await nameServer(records([a(OUTSIDE)]));
    expect(await post(senderBy(dns), outside.port)).toMatchObject({ kind: 'answered' });
    expect(outside.connections).toBe(1);
  });

  it("of the loopback is refused by the rule that holds when none is given, by the machine's own resolver", async () => {
    const { outside, canaries } = await street();
    const from = new WebhookSender();
    driver.later(() => from.close());
    for (const host of [
      'localhost',
      '127.0.0.1',
      '127.0.0.7',
      '[::1]',
      '2130706433',
      '0x7f.1',
      '[::ffff:127.0.0.1]',
    ])
      expect(await post(from, outside.port, host)).toMatchObject({
        kind: 'failed',
        reason: 'refused_address',
      });
    expect([outside, ...canaries].map((peer) => peer.connections)).toEqual([0, 0, 0, 0]);
  });

  it('of the loopback is reached where the deployment allows it', async () => {
    const { canaries } = await street();
    const from = driver.sender({ isAllowed: isLoopbackAddress });
    const port = canaries[0]?.port ?? 0;
    expect(await post(from, port, 'localhost')).toMatchObject({ kind: 'answered' });
    await until('a canary sings', () => Promise.resolve(canaries.some((canary) => canary.connections > 0)));
  });
});
