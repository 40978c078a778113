import { Resolver } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type FailureReason, SendFailure } from './send-failure.ts';

/** Resolves all addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface ConnectionRules {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
  /** Deadline for DNS, TCP connect and TLS handshake together. */
  readonly connectMs: number;
  /** CA certificates to trust instead of the system's. */
  readonly ca?: string | undefined;
}

export interface Target {
  /** Host name or IP address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly secure: boolean;
}

/** Wait before trying the next address of a name; the last address has all the remaining time. */
const NEXT_ADDRESS_MS = 500;

/** Timeout of one DNS query; each query is sent twice. */
const DNS_MS = 1000;

/**
 * Resolves all IPv4 and IPv6 addresses through DNS. It does not use the system resolver: that one blocks one of four
 * libuv threads, so a few names whose servers hang would delay all lookups. Each call has its own resolver, so that
 * lookups do not wait for each other and configuration changes take effect. Connections are reused, so lookups are rare.
 */
export async function resolveAllAddresses(hostname: string): Promise<string[]> {
  // RFC 6761: these names are not sent to DNS.
  if (/(?:^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: DNS_MS, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/**
 * Opens a connection to an address that was vetted before the first packet is sent. The name is resolved once and the
 * socket receives the vetted addresses: resolving again would allow DNS rebinding, where a name returns a public address
 * first and an internal one afterwards.
 * @throws {SendFailure}
 */
export async function openVettedConnection(target: Target, rules: ConnectionRules): Promise<Socket> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), rules.connectMs);
  try {
    const addresses = await beforeDeadline(resolveVetted(target.hostname, rules), deadline.signal);
    const socket = connectTo(target, addresses);
    await waitUntilOpen(socket, 'connect', 'connect', deadline.signal);
    if (!target.secure) return socket;
    const secured = secure(socket, target, rules);
    await waitUntilOpen(secured, 'secureConnect', 'tls', deadline.signal);
    return secured;
  } finally {
    clearTimeout(timer);
  }
}

/** One forbidden address rejects the name: an attacker could mix internal addresses with public ones. */
async function resolveVetted(hostname: string, rules: ConnectionRules): Promise<readonly string[]> {
  const addresses = isIP(hostname) === 0 ? await resolveAddresses(hostname, rules.resolve) : [hostname];
  if (!addresses.every((address) => isIP(address) !== 0 && rules.isAllowed(address)))
    throw new SendFailure('refused_address');
  return addresses;
}

async function resolveAddresses(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    const addresses = await resolve(hostname);
    if (addresses.length > 0) return addresses;
  } catch {
    // The merchant sees one code for both: the name does not exist, or its DNS servers do not respond.
  }
  throw new SendFailure('dns');
}

function connectTo(target: Target, addresses: readonly string[]): Socket {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = connect({
    host: target.hostname,
    port: target.port,
    // Not called when the host is an IP address, which was vetted directly.
    lookup: (_hostname, _options, done) => done(null, found),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    noDelay: true,
  });
  // The socket is handed over twice; an error without a listener would end the process.
  return socket.on('error', () => undefined);
}

function secure(socket: Socket, { hostname }: Target, { ca }: ConnectionRules): Socket {
  // No session resumption: a resumed session skips the host name check.
  const secured = connectTls({
    socket,
    host: hostname,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    // Explicit, because an environment variable can disable Node's default.
    rejectUnauthorized: true,
  });
  return secured.on('error', () => undefined);
}

/** Waits for the event that the socket is open; destroys a socket that misses the deadline. */
function waitUntilOpen(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  reasonIfClosed: FailureReason,
  deadline: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onDeadline = () => {
      reject(new SendFailure('timeout'));
      socket.destroy();
    };
    deadline.addEventListener('abort', onDeadline, { once: true });
    const settled = (settle: () => void) => () => {
      deadline.removeEventListener('abort', onDeadline);
      settle();
    };
    socket.once(event, settled(resolve));
    socket.once(
      'close',
      settled(() => reject(new SendFailure(reasonIfClosed))),
    );
  });
}

function beforeDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', () => reject(new SendFailure('timeout')), { once: true });
    work.then(resolve, reject);
  });
}
