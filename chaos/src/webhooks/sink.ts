/**
 * What merchants have behind their endpoints: a process of its own with a port for each, that writes down every request
 * and answers as it is told. It knows no secret: whether a signature holds is judged from what it wrote down.
 */
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/** `times` requests go wrong; `down` shuts the port for `ms` instead. */
export interface SinkFault {
  readonly sink: string;
  readonly fault: 'error' | 'hang' | 'slow' | 'reset' | 'too many' | 'down';
  readonly times?: number;
  /** How long it takes, or is away. */
  readonly ms?: number;
  readonly retryAfterSeconds?: number;
}

/** One request, as it was received. */
export interface ReceivedLine {
  readonly kind: 'received';
  readonly at: string;
  readonly sink: string;
  readonly id: string;
  readonly timestamp: string;
  readonly signature: string;
  readonly bodyHash: string;
  readonly event: string | null;
  readonly resourceId: string | null;
  /** Null: the connection ended without an answer. */
  readonly answered: number | null;
  readonly fault: string | null;
}

/** A body that none of this run has had before. */
interface BodyLine {
  readonly kind: 'body';
  readonly bodyHash: string;
  readonly text: string;
}

interface Sink {
  readonly name: string;
  readonly port: number;
  server: Server;
  faults: { fault: SinkFault; left: number }[];
}

const { values } = parseArgs({ options: { journal: { type: 'string' } }, strict: true });
const journal = openSync(values.journal ?? '/dev/null', 'a');
const bodies = new Set<string>();
const sinks = new Map<string, Sink>();
const struck = new Map<string, number>();
const stopped = new Set<() => void>();
const acknowledged = new Set<string>();
let lines = 0;
let duplicates = 0;

function write(line: ReceivedLine | BodyLine): void {
  writeSync(journal, `${JSON.stringify(line)}\n`);
}

async function open(sink: Sink): Promise<void> {
  sink.server = createServer((request, response) => {
    // Whoever sent it may be gone in the middle of it.
    receive(sink, request, response).catch(() => response.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  sink.server.once('error', reject);
  sink.server.listen(sink.port, '127.0.0.1', resolve);
  await promise;
}

async function receive(sink: Sink, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await textOf(request);
  const at = new Date().toISOString();
  const fault = nextFault(sink);
  if (fault?.fault === 'slow') await takeTime(fault.ms ?? 1000);
  const answered = response.destroyed ? null : statusUnder(fault);
  note(sink, request, body, { at, answered, fault: fault?.fault ?? null });
  if (fault?.fault === 'hang') return untilLetGo(request);
  if (answered === null) return void request.socket.destroy();
  const later =
    fault?.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) };
  response.writeHead(answered, later).end(answered === 200 ? 'ok' : 'no');
}

function nextFault(sink: Sink): SinkFault | null {
  const [first] = sink.faults;
  if (!first) return null;
  first.left -= 1;
  if (first.left <= 0) sink.faults.shift();
  count(first.fault.fault);
  return first.fault;
}

function statusUnder(fault: SinkFault | null): number | null {
  switch (fault?.fault) {
    case 'error':
      return 500;
    case 'too many':
      return 429;
    case 'hang':
    case 'reset':
      return null;
    default:
      return 200;
  }
}

/** Before the answer leaves: whoever was told that it was received finds it here. */
function note(
  sink: Sink,
  { headers }: IncomingMessage,
  text: string,
  what: Pick<ReceivedLine, 'at' | 'answered' | 'fault'>,
): void {
  const bodyHash = createHash('sha256').update(text).digest('hex');
  if (!bodies.has(bodyHash)) {
    bodies.add(bodyHash);
    write({ kind: 'body', bodyHash, text });
  }
  const named = nameOf(text);
  const header = (name: string) => String(headers[name] ?? '');
  const name = `${sink.name} ${header('webhook-id')}`;
  lines += 1;
  if (acknowledged.has(name)) duplicates += 1;
  if (what.answered === 200) acknowledged.add(name);
  write({
    kind: 'received',
    sink: sink.name,
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
    bodyHash,
    ...named,
    ...what,
  });
}

function nameOf(text: string): Pick<ReceivedLine, 'event' | 'resourceId'> {
  try {
    const { event, data } = JSON.parse(text) as { event?: string; data?: { id?: string } };
    return { event: event ?? null, resourceId: data?.id ?? null };
  } catch {
    return { event: null, resourceId: null };
  }
}

/** Until its time is over or its faults are cleared. */
async function takeTime(ms: number): Promise<void> {
  const enough = new AbortController();
  const letGo = () => enough.abort();
  stopped.add(letGo);
  await sleep(ms, undefined, { signal: enough.signal }).catch(() => undefined);
  stopped.delete(letGo);
}

async function untilLetGo({ socket }: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const letGo = () => {
    stopped.delete(letGo);
    socket.destroy();
    resolve();
  };
  stopped.add(letGo);
  socket.once('close', letGo);
  await promise;
}

async function strike(fault: SinkFault): Promise<void> {
  const sink = sinks.get(fault.sink);
  if (!sink) throw new Error(`no sink ${fault.sink}`);
  if (fault.fault !== 'down') return void sink.faults.push({ fault, left: fault.times ?? 1 });
  if (!sink.server.listening) return;
  count('down');
  const { server } = sink;
  server.close();
  // What is under way is answered: an answer cut off would be one that nobody was told.
  server.closeIdleConnections();
  await sleep(fault.ms ?? 1000);
  await open(sink);
}

function count(fault: string): void {
  struck.set(fault, (struck.get(fault) ?? 0) + 1);
}

async function control(request: IncomingMessage): Promise<object> {
  const asked = await textOf(request);
  switch (`${request.method} ${request.url}`) {
    case 'POST /sinks': {
      const { name, port } = JSON.parse(asked) as Pick<Sink, 'name' | 'port'>;
      const sink = { name, port, server: createServer(), faults: [] };
      await open(sink);
      sinks.set(name, sink);
      return {};
    }
    case 'POST /faults':
      await strike(JSON.parse(asked) as SinkFault);
      return {};
    case 'DELETE /faults':
      for (const sink of sinks.values()) sink.faults = [];
      for (const letGo of stopped) letGo();
      return {};
    default:
      return { lines, duplicates, struck: Object.fromEntries(struck) };
  }
}

const door = createServer((request, response) => {
  control(request).then(
    (answer) => response.end(JSON.stringify(answer)),
    (error: unknown) => response.writeHead(500).end(JSON.stringify({ error: String(error) })),
  );
});
door.listen(0, '127.0.0.1', () => {
  const { port } = door.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
});
// Whoever started it is gone.
process.once('disconnect', () => process.exit(0));
