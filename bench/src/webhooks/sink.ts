/**
 * A process that receives webhooks, with one port per endpoint, so that each endpoint is a separate origin as with real
 * merchants. It uses raw sockets, because a server library would cost as much CPU as the sender under test. It records
 * when each event first arrived; `start-sink.ts` controls it.
 */
import { createServer as createControl, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok';

/** By endpoint: first arrival time of each event, by event id. */
const journal: Map<string, number>[] = [];
/** Requests to the first endpoint, including headers. */
const requests: string[] = [];
let hanging = new Set<number>();
let received = 0;

function receive(endpoint: number, request: string): void {
  const id = /\r\nwebhook-id: (\S+)/i.exec(request)?.[1] ?? '';
  const seen = journal[endpoint];
  received += 1;
  if (!seen || seen.has(id)) return;
  seen.set(id, Date.now());
  if (endpoint === 0) requests.push(request);
}

function serve(endpoint: number, socket: Socket): void {
  let buffered = '';
  socket.setEncoding('latin1').setNoDelay(true);
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    buffered += String(chunk);
    for (;;) {
      const headEnd = buffered.indexOf('\r\n\r\n');
      if (headEnd < 0) return;
      const length = Number(/\r\ncontent-length: (\d+)/i.exec(buffered)?.[1] ?? 0);
      const end = headEnd + 4 + length;
      if (buffered.length < end) return;
      const request = buffered.slice(0, end);
      buffered = buffered.slice(end);
      receive(endpoint, request);
      if (!hanging.has(endpoint)) socket.write(ANSWER);
    }
  });
}

async function answer(request: IncomingMessage): Promise<unknown> {
  switch (request.url) {
    case '/reset':
      for (const seen of journal) seen.clear();
      requests.length = 0;
      received = 0;
      return {};
    case '/hang':
      hanging = new Set((await json(request)) as number[]);
      return {};
    case '/count':
      return { received, distinct: journal.reduce((sum, seen) => sum + seen.size, 0) };
    case '/journal': {
      const selected = (await json(request)) as number[] | null;
      const seen = selected?.map((endpoint) => journal[endpoint] ?? new Map<string, number>()) ?? journal;
      return seen.map((each) => Object.fromEntries(each));
    }
    case '/requests':
      return requests;
    default:
      throw new Error(`unknown path: ${request.url}`);
  }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1024 }, resolve));
  return (server.address() as AddressInfo).port;
}

const endpoints = Number(process.argv[2]);
const ports: number[] = [];
for (let endpoint = 0; endpoint < endpoints; endpoint += 1) {
  journal.push(new Map());
  ports.push(await listening(createServer((socket) => serve(endpoint, socket))));
}
const control = await listening(
  createControl((request, response) => {
    void answer(request).then((body) => response.end(JSON.stringify(body)));
  }),
);
process.once('disconnect', () => process.exit());
process.once('SIGTERM', () => process.exit());
process.send?.({ ready: true, ports, control });
