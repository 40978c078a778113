import { execFile } from 'node:child_process';
import type { Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { OK, startRawPeer } from '../harness/raw-peer.ts';
import { until } from '../harness/until.ts';
import { expectAnswered, openWebhookDriver, post, waitUntilClosed } from '../harness/webhook-driver.ts';

const PROXY_PROGRAM = fileURLToPath(new URL('proxy-program.ts', import.meta.url));
const driver = openWebhookDriver();

describe('a webhook request', () => {
  it('has exactly these headers and this body', async () => {
    const peer = await driver.startPeer((socket) => socket.write(OK));
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

  it('ignores Host and Accept-Encoding headers of the merchant', async () => {
    const peer = await driver.startPeer((socket) => socket.write(OK));
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
    ['a line break in a header', { headers: { 'x-a': 'b\r\nx-c: d' } }],
    ['an invalid header name', { headers: { 'x a': 'b' } }],
    ['another length', { headers: { 'content-length': '1' } }],
    ['another framing', { headers: { 'transfer-encoding': 'chunked' } }],
  ])('with %s is not sent', async (_name, { headers }) => {
    const peer = await driver.startPeer((socket) => socket.write(OK));
    const result = await driver
      .sender()
      .send({ url: `http://127.0.0.7:${peer.port}/`, headers, body: Buffer.from('{}') });
    expect(result).toMatchObject({ kind: 'failed', reason: 'malformed' });
    expect(peer.requests).toEqual([]);
  });

  it.each(['', 'no url', 'ftp://127.0.0.7/', 'file:///etc/passwd', 'https://'])(
    'to %j is not sent',
    async (url) => {
      const result = await driver.sender().send({ url, headers: {}, body: Buffer.from('{}') });
      expect(result).toMatchObject({ kind: 'failed', reason: 'malformed' });
    },
  );

  it('ignores the proxies of the environment', async () => {
    const proxy = await driver.startPeer(() => undefined);
    const peer = await driver.startPeer((socket) => socket.write(OK));
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
    driver.addCleanup(() => names.forEach((name) => Reflect.deleteProperty(process.env, name)));
    expect(await post(driver.sender(), peer)).toMatchObject({ kind: 'answered', status: 200 });
    expect(proxy.connections).toBe(0);
  });

  it.each([
    ['the sender ignores them', 'sender', 0],
    ['fetch uses them, so they apply', 'fetch', 2],
  ])('with proxies set at process start: %s', async (_name, by, expectedConnections) => {
    const proxy = await driver.startPeer((socket) => socket.end('HTTP/1.1 502 No\r\n\r\n'));
    const peer = await driver.startPeer((socket) => socket.end(OK));
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
    await promisify(execFile)(process.execPath, [PROXY_PROGRAM, by, ...urls], { env, timeout: PATIENCE_MS });
    await until('every request has reached a peer', () =>
      Promise.resolve(proxy.connections + peer.connections >= urls.length),
    );
    expect(proxy.connections).toBe(expectedConnections);
    expect(peer.connections).toBe(urls.length - expectedConnections);
  });
});

describe('a response', () => {
  it.each([200, 201, 204, 301, 302, 307, 308, 400, 404, 410, 429, 500, 503])(
    'with %i is reported as it is, without following a redirect',
    async (status) => {
      const canary = await startRawPeer(() => undefined, { host: '127.0.0.1' });
      driver.addCleanup(() => canary.stop());
      const peer = await driver.startPeer((socket) =>
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
    ['zero seconds', 'retry-after: 0', 0],
    ['more than a day', 'retry-after: 86401', 86_400],
    ['more than a number can hold', `retry-after: ${'9'.repeat(400)}`, 86_400],
    ['a date', 'date: Sun, 15 Nov 2026 08:00:00 GMT\r\nretry-after: Sun, 15 Nov 2026 08:05:00 GMT', 300],
    [
      'a date more than a day ahead',
      'date: Sun, 15 Nov 2026 08:00:00 GMT\r\nretry-after: Thu, 19 Nov 2026 08:05:00 GMT',
      86_400,
    ],
    [
      'a date in the past',
      'date: Sun, 15 Nov 2026 08:00:00 GMT\r\nretry-after: Sat, 14 Nov 2026 08:00:00 GMT',
      0,
    ],
    ['a date in the past, by our clock', 'retry-after: Sat, 14 Nov 2020 08:00:00 GMT', 0],
    ['a date far ahead, by our clock', 'retry-after: Sat, 14 Nov 2099 08:00:00 GMT', 86_400],
    ['a negative number', 'retry-after: -5', null],
    ['a fraction', 'retry-after: 1.5', null],
    ['words', 'retry-after: tomorrow', null],
    ['another form of date', 'retry-after: 2026-11-15', null],
    ['nothing', 'x-a: b', null],
  ])('with Retry-After as %s is parsed', async (_name, header, expected) => {
    const peer = await driver.startPeer((socket) =>
      socket.write(`HTTP/1.1 503 Later\r\n${header}\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(expectAnswered(await post(driver.sender(), peer)).retryAfterSeconds).toBe(expected);
  });

  it('is stored with its first 512 bytes, without split characters and NUL', async () => {
    const body = Buffer.from(`\0${'ñ'.repeat(400)}`);
    const peer = await driver.startPeer((socket) => {
      socket.write(`HTTP/1.1 500 X\r\ncontent-length: ${body.length}\r\n\r\n`);
      socket.write(body);
    });
    expect(expectAnswered(await post(driver.sender(), peer)).firstBytes).toBe(`\uFFFD${'ñ'.repeat(255)}`);
  });

  it('without end is truncated and keeps its status', async () => {
    let written = 0;
    const peer = await driver.startPeer((socket) => {
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
    await waitUntilClosed(peer);
    expect(from.idleConnections).toBe(0);
    expect(written).toBeLessThan(16 * 1024 * 1024);
  });

  it('of 64 KiB is read completely, and its connection is reused', async () => {
    const peer = await driver.startPeer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 65536\r\n\r\n${'a'.repeat(65_536)}`);
    });
    const from = driver.sender();
    for (let time = 0; time < 3; time += 1)
      expect(expectAnswered(await post(from, peer)).firstBytes).toBe('a'.repeat(512));
    expect(peer.connections).toBe(1);
    expect(from.idleConnections).toBe(1);
  });

  it('above 64 KiB keeps its status, and its connection is dropped', async () => {
    const peer = await driver.startPeer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: 65537\r\n\r\n${'a'.repeat(65_537)}`);
    });
    const from = driver.sender();
    for (let time = 0; time < 3; time += 1)
      expect(expectAnswered(await post(from, peer))).toMatchObject({
        status: 200,
        firstBytes: 'a'.repeat(512),
      });
    expect(peer.connections).toBe(3);
    expect(from.idleConnections).toBe(0);
    await waitUntilClosed(peer);
  });

  it('that is compressed is not decompressed', async () => {
    const bomb = gzipSync(Buffer.alloc(50 * 1024 * 1024), { level: 9 });
    const peer = await driver.startPeer((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n`);
      socket.write(bomb);
    });
    const { firstBytes } = expectAnswered(await post(driver.sender(), peer));
    expect(firstBytes.startsWith('\x1f\uFFFD\b')).toBe(true);
  });

  it('keeps its status when the body breaks off', async () => {
    const peer = await driver.startPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf', () => socket.resetAndDestroy());
    });
    const from = driver.sender();
    expect(await post(from, peer)).toMatchObject({ kind: 'answered', status: 200 });
    expect(from.idleConnections).toBe(0);
  });

  it.each([
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n', 'malformed'],
    ['an invalid status', 'HTTP/1.1 abc\r\n\r\n', 'malformed'],
    ['headers of 20 kB', `HTTP/1.1 200 OK\r\nx-a: ${'a'.repeat(20_000)}\r\n\r\n`, 'too_large_headers'],
    ['many header lines', `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(10_000)}\r\n`, 'too_large_headers'],
  ])('with %s is a failure', async (_name, bytes, reason) => {
    const peer = await driver.startPeer((socket) => socket.write(bytes));
    expect(await post(driver.sender(), peer)).toMatchObject({ kind: 'failed', reason });
    await waitUntilClosed(peer);
  });

  it('that switches protocols is a failure', async () => {
    const peer = await driver.startPeer((socket) =>
      socket.write('HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n'),
    );
    expect((await post(driver.sender(), peer)).kind).toBe('failed');
    await waitUntilClosed(peer);
  });

  it.each([
    ['before it starts', (socket: Socket) => socket.end()],
    ['within its headers', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nconte')],
    ['with a reset', (socket: Socket) => socket.resetAndDestroy()],
  ])('is missing when the connection ends %s', async (_name, end) => {
    const peer = await driver.startPeer(end);
    expect(await post(driver.sender(), peer)).toMatchObject({ kind: 'failed', reason: 'reset' });
    // The sender does not retry a request that may have arrived.
    expect(peer.requests).toHaveLength(1);
  });
});
