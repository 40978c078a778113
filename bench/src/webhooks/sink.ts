/**
 * A process that receives webhooks: one port for each endpoint, so that each is an origin of its own as with merchants. Over
 * raw sockets, because a server library would cost as much as the sender it is there for. It keeps a journal of what came
 * first and when; `start-sink.ts` speaks to it.
 */
import { createServer as createControl, type IncomingMessage } from 'node:http';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { json } from 'node:stream/consumers';

const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok';

/** By endpoint: when each event came first, by its id. */
const journal: Map<string, number>[] = [];
/** As they came to the first endpoint, headers included. */
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
    case '/forget':
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
      const asked = (await json(request)) as number[] | null;
      const seen = asked?.map((endpoint) => journal[endpoint] ?? new Map<string, number>()) ?? journal;
      return seen.map((each) => Object.fromEntries(each));
    }
    case '/requests':
      return requests;
    default:
      throw new Error(`unknown: ${request.url}`);
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
