import { describe, expect, it } from 'vitest';
import { expectWithin } from '../../../scripts/testing/expect-within.ts';
import { isLoopbackAddress } from '../../src/webhooks/sending/public-address.ts';
import {
  type SenderOptions,
  type SendResult,
  WebhookSender,
} from '../../src/webhooks/sending/webhook-sender.ts';
import { type DnsQuery, type DnsRecord, type DnsServer, startDnsServer } from '../harness/dns-server.ts';
import { OK, type RawPeer, startRawPeer } from '../harness/raw-peer.ts';
import { until } from '../harness/until.ts';
import { openWebhookDriver, PUBLIC_ADDRESS } from '../harness/webhook-driver.ts';

const NAME = 'hooks.shop.example';
const driver = openWebhookDriver();

/** Differs between processes that run at the same time, most of the time: `startPeers` takes the next port that is free. */
let nextPort = 10_000 + (process.pid % 5000);

/**
 * A public receiver and internal canaries on the same port, distinguished only by their address. The port is
 * outside the ephemeral range: a port that is free on one address may be in use or still be called on
 * another.
 */
async function startPeers(): Promise<{ publicPeer: RawPeer; canaries: RawPeer[] }> {
  for (;;) {
    const port = nextPort;
    nextPort = nextPort < 15_000 ? nextPort + 1 : 10_000;
    const peers: RawPeer[] = [];
    try {
      for (const host of [PUBLIC_ADDRESS, '127.0.0.1', '127.0.0.8', '::1'])
        peers.push(await startRawPeer((socket) => socket.write(OK), { host, port }));
    } catch (error) {
      await Promise.all(peers.map((peer) => peer.stop()));
      if ((error as { code?: string }).code !== 'EADDRINUSE') throw error;
      continue;
    }
    driver.addCleanup(() => Promise.all(peers.map((peer) => peer.stop())));
    const [publicPeer, ...canaries] = peers;
    if (publicPeer) return { publicPeer, canaries };
  }
}

async function nameServer(answer: (question: DnsQuery) => readonly DnsRecord[] | null): Promise<DnsServer> {
  const dns = await startDnsServer(answer);
  driver.addCleanup(() => dns.stop());
  return dns;
}

function senderWith(dns: DnsServer, options: SenderOptions = {}): WebhookSender {
  return driver.sender({ resolve: dns.resolve, ...options });
}

function post(from: WebhookSender, port: number, host = NAME): Promise<SendResult> {
  return from.send({ url: `http://${host}:${port}/`, headers: {}, body: Buffer.from('{}') });
}

const a = (data: string, name?: string): DnsRecord => ({ type: 'A', data, ...(name ? { name } : {}) });
const aaaa = (data: string, name?: string): DnsRecord => ({ type: 'AAAA', data, ...(name ? { name } : {}) });
const alias = (name: string, data: string): DnsRecord => ({ type: 'CNAME', name, data });

/** Records for A and AAAA queries. */
function records(four: readonly DnsRecord[], six: readonly DnsRecord[] = []) {
  return ({ type }: DnsQuery) => (type === 'A' ? four : six);
}

describe('a host name', () => {
  it('with a public address is resolved once and reached with its own name as host', async () => {
    const { publicPeer, canaries } = await startPeers();
    const dns = await nameServer(records([a(PUBLIC_ADDRESS)]));
    expect(await post(senderWith(dns), publicPeer.port)).toMatchObject({ kind: 'answered', status: 200 });
    expect(publicPeer.requests[0]?.text).toContain(`\r\nhost: ${NAME}:${publicPeer.port}\r\n`);
    expect(dns.queries.map(({ name, type }) => `${name} ${type}`).sort()).toEqual([
      `${NAME} A`,
      `${NAME} AAAA`,
    ]);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it.each([
    ['has an internal address', records([a('127.0.0.1')])],
    ['has an internal IPv6 address', records([], [aaaa('::1')])],
    ['has an internal IPv4-mapped address', records([], [aaaa('0:0:0:0:0:ffff:7f00:7')])],
    ['has a public and an internal address', records([a(PUBLIC_ADDRESS), a('127.0.0.1')])],
    ['has an internal and a public address', records([a('127.0.0.1'), a(PUBLIC_ADDRESS)])],
    [
      'has many public addresses and an internal one',
      records([...Array.from({ length: 9 }, () => a(PUBLIC_ADDRESS)), a('127.0.0.8')]),
    ],
    ['has a public IPv4 and an internal IPv6 address', records([a(PUBLIC_ADDRESS)], [aaaa('::1')])],
    [
      'is a CNAME of an internal name',
      records([alias(NAME, 'db.inside.example'), a('127.0.0.1', 'db.inside.example')]),
    ],
    [
      'is a chain of CNAMEs to an internal name',
      records([
        alias(NAME, 'one.example'),
        alias('one.example', 'two.example'),
        alias('two.example', 'three.example'),
        a('127.0.0.8', 'three.example'),
      ]),
    ],
    [
      'is a CNAME of an internal name for IPv6 only',
      records([a(PUBLIC_ADDRESS)], [alias(NAME, 'six.example'), aaaa('::1', 'six.example')]),
    ],
  ])('that %s is rejected without a connection', async (_name, answer) => {
    const { publicPeer, canaries } = await startPeers();
    const dns = await nameServer(answer);
    const result = await post(senderWith(dns), publicPeer.port);
    expect(result).toMatchObject({ kind: 'failed', reason: 'refused_address' });
    expect([publicPeer, ...canaries].map((peer) => peer.connections)).toEqual([0, 0, 0, 0]);
  });

  it('that is a CNAME of a public name is reached', async () => {
    const { publicPeer } = await startPeers();
    const dns = await nameServer(records([alias(NAME, 'cdn.example'), a(PUBLIC_ADDRESS, 'cdn.example')]));
    expect(await post(senderWith(dns), publicPeer.port)).toMatchObject({ kind: 'answered' });
  });

  it('is resolved once per connection, also when later answers are internal', async () => {
    const { publicPeer, canaries } = await startPeers();
    const dns = await nameServer(({ type, previousQueries }) =>
      type === 'AAAA' ? [] : [a(previousQueries === 0 ? PUBLIC_ADDRESS : '127.0.0.1')],
    );
    const from = senderWith(dns, { lifeMs: 0 });
    expect(await post(from, publicPeer.port)).toMatchObject({ kind: 'answered' });
    expect(dns.queries).toHaveLength(2);
    // The next connection resolves it again and is rejected.
    expect(await post(from, publicPeer.port)).toMatchObject({ kind: 'failed', reason: 'refused_address' });
    expect(publicPeer.connections).toBe(1);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it('that becomes internal while a connection is idle keeps that connection to the checked address', async () => {
    const { publicPeer, canaries } = await startPeers();
    const dns = await nameServer(({ type, previousQueries }) =>
      type === 'AAAA' ? [] : [a(previousQueries === 0 ? PUBLIC_ADDRESS : '127.0.0.1')],
    );
    const from = senderWith(dns);
    for (let time = 0; time < 3; time += 1)
      expect(await post(from, publicPeer.port)).toMatchObject({ status: 200 });
    expect(publicPeer.connections).toBe(1);
    expect(publicPeer.requests).toHaveLength(3);
    expect(dns.queries).toHaveLength(2);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it('that alternates is reached at its public address or rejected, never reached internally', async () => {
    const { publicPeer, canaries } = await startPeers();
    const dns = await nameServer(({ type, previousQueries }) =>
      type === 'AAAA' ? [] : [a(previousQueries % 2 === 0 ? PUBLIC_ADDRESS : '127.0.0.8')],
    );
    const from = senderWith(dns, { lifeMs: 0 });
    const results = await Promise.all(Array.from({ length: 40 }, () => post(from, publicPeer.port)));
    const rejected = results.filter((result) => result.kind === 'failed');
    expect(rejected.length).toBeGreaterThan(0);
    expect(rejected.every((result) => result.reason === 'refused_address')).toBe(true);
    expect(publicPeer.connections).toBe(40 - rejected.length);
    expect(canaries.map((canary) => canary.connections)).toEqual([0, 0, 0]);
  });

  it('without an address fails with dns', async () => {
    const dns = await nameServer(records([]));
    expect(await post(senderWith(dns), 80)).toMatchObject({ kind: 'failed', reason: 'dns' });
  });

  it('whose DNS server does not answer fails at the connect deadline', async () => {
    const dns = await nameServer(() => null);
    const result = await post(senderWith(dns, { connectMs: 300 }), 80);
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout' });
    expectWithin('the connect deadline', result.durationMs, 3000);
  });

  it('that resolves after the deadline is not connected to', async () => {
    const { publicPeer } = await startPeers();
    let answerNow: (addresses: string[]) => void = () => undefined;
    const resolve = () =>
      new Promise<string[]>((done) => {
        answerNow = done;
      });
    const from = driver.sender({ resolve, connectMs: 100 });
    expect(await post(from, publicPeer.port)).toMatchObject({ kind: 'failed', reason: 'timeout' });
    answerNow([PUBLIC_ADDRESS]);
    // Another delivery completes meanwhile, so that the first would have had time to connect.
    const dns = await nameServer(records([a(PUBLIC_ADDRESS)]));
    expect(await post(senderWith(dns), publicPeer.port)).toMatchObject({ kind: 'answered' });
    expect(publicPeer.connections).toBe(1);
  });

  it('of the loopback is rejected by the default rule with the system resolver', async () => {
    const { publicPeer, canaries } = await startPeers();
    const from = new WebhookSender();
    driver.addCleanup(() => from.close());
    for (const host of [
      'localhost',
      '127.0.0.1',
      '127.0.0.7',
      '[::1]',
      '2130706433',
      '0x7f.1',
      '[::ffff:127.0.0.1]',
    ])
      expect(await post(from, publicPeer.port, host)).toMatchObject({
        kind: 'failed',
        reason: 'refused_address',
      });
    expect([publicPeer, ...canaries].map((peer) => peer.connections)).toEqual([0, 0, 0, 0]);
  });

  it('of the loopback is reached where the deployment allows it', async () => {
    const { canaries } = await startPeers();
    const from = driver.sender({ isAllowed: isLoopbackAddress });
    const port = canaries[0]?.port ?? 0;
    expect(await post(from, port, 'localhost')).toMatchObject({ kind: 'answered' });
    await until('a canary receives a connection', () =>
      Promise.resolve(canaries.some((canary) => canary.connections > 0)),
    );
  });
});
