import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';

export interface RawRequest {
  /** From the request line to the end of the body, byte for byte. */
  readonly text: string;
  /** Which connection it came over, counted from one. */
  readonly connection: number;
  /** The name that the TLS handshake asked for. */
  readonly servername: string | null;
}

export interface RawPeer {
  readonly port: number;
  readonly requests: readonly RawRequest[];
  readonly connections: number;
  readonly open: number;
  stop(): Promise<void>;
}

interface Place {
  readonly host?: string;
  readonly port?: number;
  readonly tls?: { readonly key: string; readonly cert: string };
}

export const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok';

/**
 * A receiver of webhooks at the level of bytes: it does to the socket whatever the test says, once a whole request is
 * there. As a canary it is given nothing to say, and what counts is that nobody ever connects.
 */
export async function startRawPeer(
  answer: (socket: Socket, request: RawRequest) => void,
  { host = '127.0.0.7', port = 0, tls }: Place = {},
): Promise<RawPeer> {
  const requests: RawRequest[] = [];
  const sockets = new Set<Socket>();
  let connections = 0;
  const take = (socket: Socket) => {
    const connection = (connections += 1);
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1');
      const length = /content-length: (\d+)\r\n/.exec(text)?.[1];
      const headEnd = text.indexOf('\r\n\r\n');
      if (headEnd < 0 || text.length < headEnd + 4 + Number(length ?? 0)) return;
      const asked = tls ? (socket as TLSSocket).servername : null;
      const servername = typeof asked === 'string' ? asked : null;
      const request = { text, connection, servername };
      text = '';
      requests.push(request);
      answer(socket, request);
    });
  };
  const server = tls ? createTlsServer(tls, take) : createServer(take);
  server.on('tlsClientError', () => undefined);
  await listening(server, host, port);
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

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
}
