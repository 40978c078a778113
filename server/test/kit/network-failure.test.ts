import { connect, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { freePort } from '../../../scripts/stack/free-port.ts';
import { isNotConnected } from '../../src/kit/network-failure.ts';

const systemError = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall });

describe('isNotConnected', () => {
  it.each([
    ['a refused connection', systemError('ECONNREFUSED', 'connect')],
    ['an unreachable host', systemError('EHOSTUNREACH', 'connect')],
    ['an unknown host name', systemError('ENOTFOUND', 'getaddrinfo')],
    ['a connection that took too long', Object.assign(new Error(), { code: 'UND_ERR_CONNECT_TIMEOUT' })],
    [
      'every address of a host name',
      new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('ENETUNREACH', 'connect')]),
    ],
    ['the cause of an error', new Error('fetch failed', { cause: systemError('ECONNREFUSED', 'connect') })],
  ])('is true for %s', (_what, error) => {
    expect(isNotConnected(error)).toBe(true);
  });

  it.each([
    // The request was written; the network reports the host as unreachable while the response is awaited.
    ['a host that becomes unreachable', systemError('EHOSTUNREACH', 'read')],
    ['a network that becomes unreachable', systemError('ENETUNREACH', 'write')],
    ['a reset connection', systemError('ECONNRESET', 'read')],
    ['a connection that the peer closed', Object.assign(new Error(), { code: 'UND_ERR_SOCKET' })],
    ['a timeout', new DOMException('timed out', 'TimeoutError')],
    ['an error without a code', new Error('unreadable')],
    ['no error', undefined],
    [
      'a host name of which one address was connected',
      new AggregateError([systemError('ECONNREFUSED', 'connect'), systemError('ECONNRESET', 'read')]),
    ],
    ['an empty list of errors', new AggregateError([])],
  ])('is false for %s', (_what, error) => {
    expect(isNotConnected(error)).toBe(false);
  });

  it('is true for an error of the operating system before the connection, and false for one after it', async () => {
    const failure = (port: number) =>
      new Promise<unknown>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.write('request'));
        socket.once('error', resolve);
      });
    expect(isNotConnected(await failure(await freePort()))).toBe(true);
    const server = createServer((socket) => socket.once('data', () => socket.resetAndDestroy()));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = address !== null && typeof address === 'object' ? address.port : 0;
    expect(isNotConnected(await failure(port))).toBe(false);
    await new Promise((resolve) => server.close(resolve));
  });
});
