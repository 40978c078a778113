/**
 * The receiving side of merchants' endpoints: a separate process with one port per endpoint. It journals every request and
 * responds according to its faults. It knows no secrets: the checker verifies signatures from the journal.
 */
import { createHash } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

/** Applies to `times` requests; `down` closes the port for `ms` instead. */
export interface SinkFault {
  readonly sink: string;
  readonly fault: 'error' | 'hang' | 'slow' | 'reset' | 'too_many_requests' | 'down';
  readonly times?: number;
  /** Duration of the delay or the outage. */
  readonly ms?: number;
  readonly retryAfterSeconds?: number;
}

/** One received request. */
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
  /** Null when the connection ended without a response. */
  readonly answered: number | null;
  readonly fault: string | null;
}

/** A body, written when it is first seen in this run. */
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
const injected = new Map<string, number>();
const pendingReleases = new Set<() => void>();
const acknowledged = new Set<string>();
let lines = 0;
let duplicates = 0;

function write(line: ReceivedLine | BodyLine): void {
  writeSync(journal, `${JSON.stringify(line)}\n`);
}

async function open(sink: Sink): Promise<void> {
  sink.server = createServer((request, response) => {
    // The sender may die in the middle of its request.
    receive(sink, request, response).catch(() => response.destroy());
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  sink.server.once('error', reject);
  sink.server.listen(sink.port, '127.0.0.1', resolve);
  await promise;
}

async function receive(sink: Sink, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readText(request);
  const at = new Date().toISOString();
  const fault = nextFault(sink);
  if (fault?.fault === 'slow') await delay(fault.ms ?? 1000);
  const answered = response.destroyed ? null : statusUnder(fault);
  record(sink, request, body, { at, answered, fault: fault?.fault ?? null });
  if (fault?.fault === 'hang') return waitForRelease(request);
  if (answered === null) return void request.socket.destroy();
  const retryAfter =
    fault?.retryAfterSeconds === undefined ? {} : { 'retry-after': String(fault.retryAfterSeconds) };
  response.writeHead(answered, retryAfter).end(answered === 200 ? 'ok' : 'no');
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
    case 'too_many_requests':
      return 429;
    case 'hang':
    case 'reset':
      return null;
    default:
      return 200;
  }
}

/** Journals the request before the response leaves, so that every acknowledged request is in the journal. */
function record(
  sink: Sink,
  { headers }: IncomingMessage,
  text: string,
  result: Pick<ReceivedLine, 'at' | 'answered' | 'fault'>,
): void {
  const bodyHash = createHash('sha256').update(text).digest('hex');
  if (!bodies.has(bodyHash)) {
    bodies.add(bodyHash);
    write({ kind: 'body', bodyHash, text });
  }
  const resource = readResource(text);
  const header = (name: string) => String(headers[name] ?? '');
  const name = `${sink.name} ${header('webhook-id')}`;
  lines += 1;
  if (acknowledged.has(name)) duplicates += 1;
  if (result.answered === 200) acknowledged.add(name);
  write({
    kind: 'received',
    sink: sink.name,
    id: header('webhook-id'),
    timestamp: header('webhook-timestamp'),
    signature: header('webhook-signature'),
    bodyHash,
    ...resource,
    ...result,
  });
}

function readResource(text: string): Pick<ReceivedLine, 'event' | 'resourceId'> {
  try {
    const { event, data } = JSON.parse(text) as { event?: string; data?: { id?: string } };
    return { event: event ?? null, resourceId: data?.id ?? null };
  } catch {
    return { event: null, resourceId: null };
  }
}

/** Waits for this time, or until faults are cleared. */
async function delay(ms: number): Promise<void> {
  const released = new AbortController();
  const release = () => released.abort();
  pendingReleases.add(release);
  await sleep(ms, undefined, { signal: released.signal }).catch(() => undefined);
  pendingReleases.delete(release);
}

async function waitForRelease({ socket }: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const release = () => {
    pendingReleases.delete(release);
    socket.destroy();
    resolve();
  };
  pendingReleases.add(release);
  socket.once('close', release);
  await promise;
}

async function addFault(fault: SinkFault): Promise<void> {
  const sink = sinks.get(fault.sink);
  if (!sink) throw new Error(`no sink ${fault.sink}`);
  if (fault.fault !== 'down') return void sink.faults.push({ fault, left: fault.times ?? 1 });
  if (!sink.server.listening) return;
  count('down');
  const { server } = sink;
  server.close();
  // Requests in flight are still answered: a journaled response must reach the sender.
  server.closeIdleConnections();
  await sleep(fault.ms ?? 1000);
  await open(sink);
}

function count(fault: string): void {
  injected.set(fault, (injected.get(fault) ?? 0) + 1);
}

async function control(request: IncomingMessage): Promise<object> {
  const body = await readText(request);
  switch (`${request.method} ${request.url}`) {
    case 'POST /sinks': {
      const { name, port } = JSON.parse(body) as Pick<Sink, 'name' | 'port'>;
      const sink = { name, port, server: createServer(), faults: [] };
      await open(sink);
      sinks.set(name, sink);
      return {};
    }
    case 'POST /faults':
      await addFault(JSON.parse(body) as SinkFault);
      return {};
    case 'DELETE /faults':
      for (const sink of sinks.values()) sink.faults = [];
      for (const release of pendingReleases) release();
      return {};
    default:
      return { lines, duplicates, injected: Object.fromEntries(injected) };
  }
}

const controlServer = createServer((request, response) => {
  control(request).then(
    (answer) => response.end(JSON.stringify(answer)),
    (error: unknown) => response.writeHead(500).end(JSON.stringify({ error: String(error) })),
  );
});
controlServer.listen(0, '127.0.0.1', () => {
  const { port } = controlServer.address() as AddressInfo;
  process.stdout.write(`${JSON.stringify({ ready: true, url: `http://127.0.0.1:${port}` })}\n`);
});
// Exits with its parent process.
process.once('disconnect', () => process.exit(0));
