import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';

export interface RawRequest {
  /** The request line, headers and body, byte for byte. */
  readonly text: string;
  /** Connection number, starting at 1. */
  readonly connection: number;
  /** SNI name of the TLS handshake. */
  readonly servername: string | null;
}

export interface RawPeer {
  readonly port: number;
  readonly requests: readonly RawRequest[];
  readonly connections: number;
  readonly open: number;
  stop(): Promise<void>;
}

interface ListenOptions {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/**
 * A webhook receiver at byte level: once a request is complete, the test decides what happens on the socket.
 * As a canary it must never receive a connection.
 */
export async function startRawPeer(
  answer: (socket: Socket, request: RawRequest) => void,
  { host = '127.0.0.7', port = 0, tls }: ListenOptions = {},
): Promise<RawPeer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const handle = (socket: Socket) => {
    const connection = (connections += 1);
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const length = /content-length: (\d+)\r\n/.exec(text)?.[1];
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd < 0 || text.length < headEnd + 4 + Number(length ?? 0)) return;
      const sni = tls ? (socket as TLSSocket).servername : null;
      const servername = typeof sni === 'string' ? sni : null;
      const request = { text, connection, servername };
      text = '';
      requests.push(request);
      answer(socket, request);
    });
  };
  const server = tls ? createTlsServer(tls, handle) : createServer(handle);
  server.on('tlsClientError', () => undefined);
  await listen(server, host, port);
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
