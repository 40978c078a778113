import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface PeerCall {
  readonly path: string;
  readonly authorization: string;
  readonly body: unknown;
}

export interface PeerReply {
  readonly status?: number;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
  /** The response never ends: no byte at all, or only half of the body. */
  readonly stall?: 'silent' | 'half-way';
}

export interface FaultyPeer {
  readonly url: string;
  readonly calls: readonly PeerCall[];
  /** Refuses new connections; a call in progress gets its response. */
  stopListening(): void;
  stop(): Promise<void>;
}

export function json(body: unknown, status = 200): PeerReply {
  return { status, text: JSON.stringify(body) };
}

/** A rail with scripted responses, for failures the simulator does not produce. */
export async function startFaultyPeer(
  reply: (call: PeerCall) => PeerReply | Promise<PeerReply>,
): Promise<FaultyPeer> {
  const calls: PeerCall[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8');
      const call: PeerCall = {
        path: request.url ?? '',
        authorization: request.headers.authorization ?? '',
        body: text === '' ? null : (JSON.parse(text) as unknown),
      };
      calls.push(call);
      Promise.resolve(reply(call)).then(
        (answer) => send(response, answer),
        () => response.destroy(),
      );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    stopListening: () => void server.close(),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, answer: PeerReply): void {
  if (answer.stall === 'silent') return;
  const body = Buffer.from(answer.text);
  response.writeHead(answer.status ?? 200, {
    'content-type': answer.type ?? 'application/json',
    ...answer.headers,
  });
  if (answer.stall === 'half-way') response.write(body.subarray(0, body.length >> 1));
  else response.end(body);
}
