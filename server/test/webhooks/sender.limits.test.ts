import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { expectWithin } from '../../../scripts/testing/expect-within.ts';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { OK } from '../harness/raw-peer.ts';
import { until } from '../harness/until.ts';
import {
  expectAnswered,
  openWebhookDriver,
  PUBLIC_ADDRESS,
  post,
  waitUntilClosed,
} from '../harness/webhook-driver.ts';

const driver = openWebhookDriver();

/** Holds timers of this delay until the condition holds as well: a process that stalled runs a timer before it reads what arrived. */
function holdTimers(delayMs: number, condition: () => boolean): void {
  const { setTimeout: start } = globalThis;
  const held = (run: () => void) => () =>
    void until('the timer may run', () => Promise.resolve(condition())).then(run);
  const spy = vi
    .spyOn(globalThis, 'setTimeout')
    .mockImplementation((run: () => void, ms?: number) => start(ms === delayMs ? held(run) : run, ms));
  driver.addCleanup(() => spy.mockRestore());
}

describe('the total deadline', () => {
  const drip = (socket: Socket, text: string, onDrop: () => void = () => undefined) => {
    const timer = setInterval(() => {
      socket.write(text);
      onDrop();
    }, 20);
    socket.on('close', () => clearInterval(timer));
  };

  it.each([
    ['sends nothing', () => undefined],
    [
      'trickles its headers',
      (socket: Socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'x-a: b\r\n');
      },
    ],
    [
      'sends one informational response after another',
      (socket: Socket) => drip(socket, 'HTTP/1.1 103 X\r\n\r\n'),
    ],
  ])('ends the wait for a peer that %s', async (_name, answer) => {
    const peer = await driver.startPeer(answer);
    const result = await post(driver.sender({ totalMs: 400 }), peer);
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout' });
    expect(result.durationMs).toBeGreaterThanOrEqual(399);
    expectWithin('the end of the wait', result.durationMs, 3000);
    await waitUntilClosed(peer);
  });

  it('ends a trickling body and keeps its status', async () => {
    let drops = 0;
    const peer = await driver.startPeer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n');
      drip(socket, 'z', () => {
        drops += 1;
      });
    });
    // Each drop is written in a round of the event loop that also reads the earlier ones.
    holdTimers(400, () => drops > 5);
    const result = await post(driver.sender({ totalMs: 400 }), peer);
    expect(result).toMatchObject({
      kind: 'answered',
      status: 200,
      firstBytes: expect.stringMatching(/^z+$/),
    });
    expect(result.durationMs).toBeGreaterThanOrEqual(399);
    expectWithin('the end of the body', result.durationMs, 3000);
    await waitUntilClosed(peer);
  });

  it('excludes waiting for other deliveries to the same endpoint', async () => {
    // Answers once all requests have arrived: one that waited for another would miss its deadline.
    const waiting: Socket[] = [];
    const peer = await driver.startPeer((socket) => {
      waiting.push(socket);
      if (waiting.length === 24) for (const each of waiting) each.write(OK);
    });
    const from = driver.sender({ connectMs: PATIENCE_MS, totalMs: PATIENCE_MS });
    const results = await Promise.all(Array.from({ length: 24 }, () => post(from, peer)));
    expect(results.map((result) => result.kind)).toEqual(results.map(() => 'answered'));
  });
});

describe('the connect deadline', () => {
  it('ends a connection that is not accepted', async () => {
    const { port, stop } = await fullListener();
    driver.addCleanup(stop);
    const result = await post(driver.sender({ connectMs: 300 }), { port });
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout' });
    expect(result.durationMs).toBeGreaterThanOrEqual(299);
    expectWithin('the connect deadline', result.durationMs, 3000);
  });

  it('ends an unanswered TLS handshake', async () => {
    const peer = await driver.startPeer(() => undefined);
    const url = `https://127.0.0.7:${peer.port}/`;
    const result = await driver
      .sender({ connectMs: 300 })
      .send({ url, headers: {}, body: Buffer.from('{}') });
    expect(result).toMatchObject({ kind: 'failed', reason: 'timeout' });
    expectWithin('the connect deadline', result.durationMs, 3000);
    await waitUntilClosed(peer);
  });

  it('is not used when the port is closed', async () => {
    // Not one that was just closed: another process may get it.
    expect(await post(driver.sender(), { port: 1 })).toMatchObject({ kind: 'failed', reason: 'connect' });
  });

  it('leaves time for the next address of a name when the first does not answer', async () => {
    const peer = await driver.startPeer((socket) => socket.write(OK));
    const resolve = () => Promise.resolve(['127.0.0.8', PUBLIC_ADDRESS]);
    const url = `http://hooks.shop.example:${peer.port}/`;
    expect(
      await driver
        .sender({ resolve, isAllowed: () => true })
        .send({ url, headers: {}, body: Buffer.from('{}') }),
    ).toMatchObject({ status: 200 });
  });
});

describe('idle connections', () => {
  it('are reused', async () => {
    const peer = await driver.startPeer((socket) => socket.write(OK));
    const from = driver.sender();
    for (let time = 0; time < 5; time += 1) expectAnswered(await post(from, peer));
    expect(peer.connections).toBe(1);
    expect(from.idleConnections).toBe(1);
  });

  it('are limited to ten per endpoint', async () => {
    const waiting: Socket[] = [];
    const peer = await driver.startPeer((socket) => waiting.push(socket));
    const from = driver.sender();
    const results = Array.from({ length: 15 }, () => post(from, peer));
    await until('all requests arrived', () => Promise.resolve(waiting.length === 15));
    for (const socket of waiting) socket.write(OK);
    await Promise.all(results);
    expect(from.idleConnections).toBe(10);
    await until('the others are closed', () => Promise.resolve(peer.open === 10));
  });

  it('are closed after the idle time, whatever the peer offers', async () => {
    const peer = await driver.startPeer((socket) =>
      socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=600\r\ncontent-length: 0\r\n\r\n'),
    );
    const from = driver.sender({ idleMs: 200 });
    expectAnswered(await post(from, peer));
    expect(from.idleConnections).toBe(1);
    await waitUntilClosed(peer);
    await until('it is removed', () => Promise.resolve(from.idleConnections === 0));
  });

  it('are removed when the peer closes them', async () => {
    const sockets: Socket[] = [];
    const peer = await driver.startPeer((socket) => {
      sockets.push(socket);
      socket.write(OK);
    });
    const from = driver.sender();
    expectAnswered(await post(from, peer));
    sockets[0]?.destroy();
    await until('it is removed', () => Promise.resolve(from.idleConnections === 0));
    expect(await post(from, peer)).toMatchObject({ kind: 'answered' });
    expect(peer.connections).toBe(2);
  });

  it('are replaced at the end of their lifetime', async () => {
    const used: number[] = [];
    const peer = await driver.startPeer((socket, { connection }) => {
      used.push(connection);
      socket.write(OK);
    });
    const from = driver.sender({ totalMs: 10_000, idleMs: 10_000, lifeMs: 60_000 });
    let now = 0;
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now);
    driver.addCleanup(() => clock.mockRestore());
    // A use that starts after a full idle time must end within the lifetime.
    for (const at of [0, 40_000, 40_001, 40_001]) {
      now = at;
      expectAnswered(await post(from, peer));
    }
    expect(used).toEqual([1, 1, 1, 2]);
  });

  it('are not kept after connection: close', async () => {
    const peer = await driver.startPeer((socket) =>
      socket.end('HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'),
    );
    const from = driver.sender();
    for (let time = 0; time < 3; time += 1) expectAnswered(await post(from, peer));
    expect(peer.connections).toBe(3);
    expect(from.idleConnections).toBe(0);
  });

  it('never deliver an unsolicited response as the answer to the next request', async () => {
    const peer = await driver.startPeer((socket, { connection }) =>
      socket.write(connection === 1 ? `${OK}HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n` : OK),
    );
    const from = driver.sender();
    expect(await post(from, peer)).toMatchObject({ kind: 'answered', status: 200 });
    expect(await post(from, peer)).not.toMatchObject({ status: 410 });
  });

  it('and requests in flight end when the sender is closed', async () => {
    const peer = await driver.startPeer((_socket, request) =>
      request.text.startsWith('POST /quick') ? _socket.write(OK) : 0,
    );
    const from = driver.sender();
    expectAnswered(await post(from, peer, '/quick'));
    const slow = post(from, peer, '/slow');
    const other = post(from, peer, '/quick');
    await Promise.all([other, until('it is in flight', () => Promise.resolve(peer.requests.length === 3))]);
    from.close();
    expect(await slow).toMatchObject({ kind: 'failed', reason: 'reset' });
    await waitUntilClosed(peer);
  });
});

/** A port with a full accept queue, so that the kernel drops the next connection: its process is stopped. */
async function fullListener(): Promise<{ port: number; stop: () => void }> {
  const program = `
    const server = require('node:net').createServer();
    server.listen({ host: '127.0.0.7', port: 0, backlog: 1 }, () => process.stdout.write(String(server.address().port)));
  `;
  const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [text] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(text.toString());
  child.kill('SIGSTOP');
  const fillers: Socket[] = [];
  await until('the accept queue is full', async () => {
    const socket = connect(port, '127.0.0.7').on('error', () => undefined);
    fillers.push(socket);
    const accepted = await Promise.race([
      once(socket, 'connect'),
      new Promise((later) => setTimeout(later, 150)),
    ]);
    return accepted === undefined;
  });
  return {
    port,
    stop: () => {
      for (const socket of fillers) socket.destroy();
      child.kill('SIGKILL');
    },
  };
}
