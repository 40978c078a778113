import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { OK, startRawPeer } from '../harness/raw-peer.ts';
import { answered, letGo, openWebhookDriver, post } from '../harness/webhook-driver.ts';

const PROXY_PROGRAM = fileURLToPath(new URL('proxy-program.ts', import.meta.url));
const driver = openWebhookDriver();

describe('a webhook', () => {
  it('is posted with exactly these headers and this body', async () => {
    const peer = await driver.peerThat((socket) => socket.write(OK));
    const result = await driver.sender().send({
      url: `http://127.0.0.7:${peer.port}/a%20b/hook?key=1&x=%C3%B1#part`,
      headers: { 'content-type': 'application/json', 'webhook-id': 'evt_1', 'X-Shop': 'one' },
      body: Buffer.from('{"name":"ñ"}'),
    });
    expect(result).toEqual({
      kind: 'answered',
      status: 200,
      retryAfterSeconds: null,
      firstBytes: 'ok',
      durationMs: expect.any(Number),
    });
    const [request] = peer.requests;
    expect(Buffer.from(request?.text ?? '', 'latin1').toString()).toBe(
      [
        'POST /a%20b/hook?key=1&x=%C3%B1 HTTP/1.1',
        `host: 127.0.0.7:${peer.port}`,
        'connection: keep-alive',
        'content-type: application/json',
        'webhook-id: evt_1',
        'x-shop: one',
        'accept-encoding: identity',
        'content-length: 13',
        '',
        '{"name":"ñ"}',
      ].join('\r\n'),
    );
  });

  it('does not let a header of the merchant say for which host it is or ask for compression', async () => {
    const peer = await driver.peerThat((socket) => socket.write(OK));
    await driver.sender().send({
      url: `http://127.0.0.7:${peer.port}/`,
      headers: { Host: 'inside.example', 'Accept-Encoding': 'gzip' },
      body: Buffer.from('{}'),
    });
    const lines = peer.requests[0]?.text.toLowerCase().split('\r\n') ?? [];
    expect(lines.filter((line) => line.startsWith('host:'))).toEqual([`host: 127.0.0.7:${peer.port}`]);
    expect(lines.filter((line) => line.startsWith('accept-encoding:'))).toEqual([
      'accept-encoding: identity',
    ]);
  });

  it.each([
    ['a line end in a header', { headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['a name that is no header', { headers: { 'x a': 'b' } }],
    ['another length', { headers: { 'content-length': '1' } }],
    ['another framing', { headers: { 'transfer-encoding': 'chunked' } }],
  ])('with %s is not sent at all', async (_name, { headers }) => {
    const peer = await driver.peerThat((socket) => socket.write(OK));
    const result = await driver
      .sender()
      .send({ url: `http://127.0.0.7:${peer.port}/`, headers, body: Buffer.from('{}') });
    expect(result).toMatchObject({ kind: 'failed', reason: 'malformed' });
    expect(peer.requests).toEqual([]);
  });

  it.each(['', 'no url', 'ftp://127.0.0.7/', 'file:///etc/passwd', 'https://'])(
    'to %j is not sent at all',
    async (url) => {
      const result = await driver.sender().send({ url, headers: {}, body: Buffer.from('{}') });
      expect(result).toMatchObject({ kind: 'failed', reason: 'malformed' });
    },
  );

  it('goes past the proxies that the environment names', async () => {
    const proxy = await driver.peerThat(() => undefined);
    const peer = await driver.peerThat((socket) => socket.write(OK));
    const names = [
      'HTTP_PROXY',
      'http_proxy',
      'HTTPS_PROXY',
      'https_proxy',
      'ALL_PROXY',
      'NODE_USE_ENV_PROXY',
    ];
    for (const name of names)
      process.env[name] = name.startsWith('NODE') ? '1' : `http://127.0.0.7:${proxy.port}`;
    driver.later(() => names.forEach((name) => Reflect.deleteProperty(process.env, name)));
    expect(await post(driver.sender(), peer)).toMatchObject({ kind: 'answered', status: 200 });
    expect(proxy.connections).toBe(0);
  });

  it.each([
    ['a webhook goes past them', 'sender', 0],
    ['they are in force: fetch asks them', 'fetch', 2],
  ])('with proxies that its process was started with: %s', async (_name, by, asked) => {
    const proxy = await driver.peerThat((socket) => socket.end('HTTP/1.1 502 No\r\n\r\n'));
    const peer = await driver.peerThat((socket) => socket.end(OK));
    const url = `http://127.0.0.7:${proxy.port}`;
    const env = {
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: url,
      http_proxy: url,
      HTTPS_PROXY: url,
      https_proxy: url,
      ALL_PROXY: url,
    };
    const urls = ['http', 'https'].map((protocol) => `${protocol}://127.0.0.7:${peer.port}/hook`);
    await promisify(execFile)(process.execPath, [PROXY_PROGRAM, by, ...urls], { env, timeout: 20_000 });
    expect(proxy.connections).toBe(asked);
    expect(peer.connections).toBe(urls.length - asked);
  });
});

describe('an answer', () => {
  it.each([200, 201, 204, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503])(
    'of %i is told as it is, and leads nowhere else',
    async (status) => {
      const canary = await startRawPeer(() => undefined, { host: '127.0.0.1' });
      driver.later(() => canary.stop());
      const peer = await driver.peerThat((socket) =>
        socket.write(
          `HTTP/1.1 ${status} X\r\nlocation: http://127.0.0.1:${canary.port}/\r\ncontent-length: 0\r\n\r\n`,
        ),
      );
      expect(await post(driver.sender(), peer)).toMatchObject({ kind: 'answered', status, firstBytes: '' });
      expect(peer.requests).toHaveLength(1);
      expect(canary.connections).toBe(0);
    },
  );

  it.each([
    ['seconds', 'retry-after: 120', 120],
    ['no seconds', 'retry-after: 0', 0],
    ['more than a day', 'retry-after: 86401', 86_400],
    ['more than a number holds', `retry-after: ${'9'.repeat(400)}`, 86_400],
    ['a date', 'date: Sun, 15 Nov 2026 08:00:00 GMT\r\nretry-after: Sun, 15 Nov 2026 08:05:00 GMT', 300],
    [
      'a date after a day',
      'date: Sun, 15 Nov 2026 08:00:00 GMT\r\nretry-after: Thu, 19 Nov 2026 08:05:00 GMT',
      86_400,
    ],
    [
      'a date that has passed',
      'date: Sun, 15 Nov 2026 08:00:00 GMT\r\nretry-after: Sat, 14 Nov 2026 08:00:00 GMT',
      0,
    ],
    ['a date long past, by our clock', 'retry-after: Sat, 14 Nov 2020 08:00:00 GMT', 0],
    ['a date far ahead, by our clock', 'retry-after: Sat, 14 Nov 2099 08:00:00 GMT', 86_400],
    ['a negative number', 'retry-after: -5', null],
    ['a fraction', 'retry-after: 1.5', null],
    ['words', 'retry-after: tomorrow', null],
    ['another form of date', 'retry-after: 2026-11-15', null],
    ['nothing', 'x-a: b', null],
  ])('that asks to wait by %s is understood', async (_name, header, expected) => {
    const peer = await driver.peerThat((socket) =>
      socket.write(`HTTP/1.1 503 Later\r\n${header}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(answered(await post(driver.sender(), peer)).retryAfterSeconds).toBe(expected);
  });

  it('is kept by its first 512 bytes, without half a character and without NUL', async () => {
    const body = Buffer.from(`\0${'ñ'.repeat(400)}`);
    const peer = await driver.peerThat((socket) => {
      socket.write(`HTTP/1.1 500 X\r\ncontent-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    expect(answered(await post(driver.sender(), peer)).firstBytes).toBe(`\uFFFD${'ñ'.repeat(255)}`);
  });

  it('without end is cut off, and its status stands', async () => {
    let written = 0;
    const peer = await driver.peerThat((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const chunk = Buffer.from(`2000\r\n${'a'.repeat(0x2000)}\r\n`);
      const more = () => {
        while (!socket.destroyed && socket.write(chunk)) written += chunk.length;
      };
      socket.on('drain', more);
      more();
    });
    const from = driver.sender();
    expect(await post(from, peer)).toMatchObject({
      kind: 'answered',
      status: 200,
      firstBytes: 'a'.repeat(512),
    });
    await letGo(peer);
    expect(from.idleConnections).toBe(0);
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  it('of just 64 KiB is read to its end, and its connection used again', async () => {
    const peer = await driver.peerThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 65536\r\n\r\n${'a'.repeat(65_536)}`);
    });
    const from = driver.sender();
    for (let time = 0; time < 3; time += 1)
      expect(answered(await post(from, peer)).firstBytes).toBe('a'.repeat(512));
    expect(peer.connections).toBe(1);
    expect(from.idleConnections).toBe(1);
  });

  it('of one byte more is not: its status stands, and its connection is dropped', async () => {
    const peer = await driver.peerThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 65537\r\n\r\n${'a'.repeat(65_537)}`);
    });
    const from = driver.sender();
    for (let time = 0; time < 3; time += 1)
      expect(answered(await post(from, peer))).toMatchObject({ status: 200, firstBytes: 'a'.repeat(512) });
    expect(peer.connections).toBe(3);
    expect(from.idleConnections).toBe(0);
    await letGo(peer);
  });

  it('that is compressed is not inflated', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024), { level: 9 });
    const peer = await driver.peerThat((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    const { firstBytes } = answered(await post(driver.sender(), peer));
    expect(firstBytes.startsWith('\x1f\uFFFD\b')).toBe(true);
  });

  it('whose head is acknowledgement enough may break off: its status stands', async () => {
    const peer = await driver.peerThat((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () => socket.resetAndDestroy());
    });
    const from = driver.sender();
    expect(await post(from, peer)).toMatchObject({ kind: 'answered', status: 200 });
    expect(from.idleConnections).toBe(0);
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'malformed'],
    ['no status', 'HTTP/1.1 abc\r\n\r\n', 'malformed'],
    ['a head of 20 kB', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`, 'too_large_headers'],
    ['a head of many lines', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(10_000)}\r\n`, 'too_large_headers'],
  ])('of %s is a failure', async (_name, bytes, reason) => {
    const peer = await driver.peerThat((socket) => socket.write(bytes));
    expect(await post(driver.sender(), peer)).toMatchObject({ kind: 'failed', reason });
    await letGo(peer);
  });

  it('that changes the protocol is a failure', async () => {
    const peer = await driver.peerThat((socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    );
    expect((await post(driver.sender(), peer)).kind).toBe('failed');
    await letGo(peer);
  });

  it.each([
    ['before it', (socket: Socket) => socket.end()],
    ['within its head', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nconte')],
    ['by a reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('is missing when the connection ends %s', async (_name, end) => {
    const peer = await driver.peerThat(end);
    expect(await post(driver.sender(), peer)).toMatchObject({ kind: 'failed', reason: 'reset' });
    // A message that may have arrived is not sent a second time behind the caller's back.
    expect(peer.requests).toHaveLength(1);
  });
});
