import { Resolver } from 'node:dns/promises';
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type FailureReason, SendFailure } from './send-failure.ts';

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>;

export interface ConnectionRules {
  readonly resolve: Resolve;
  readonly isAllowed: (address: string) => boolean;
  /** For the name, the connection and the handshake together. */
  readonly connectMs: number;
  /** Certificates to trust in place of the machine's. */
  readonly ca?: string | undefined;
}

export interface Target {
  /** A name or an address, without brackets. */
  readonly hostname: string;
  readonly port: number;
  readonly secure: boolean;
}

/** Before the next address of a name is tried; the last one has all the time that is left. */
const NEXT_ADDRESS_MS = 500;

/** Of one question; it is asked twice. */
const DNS_MS = 1000;

/**
 * All addresses that DNS knows, both kinds. Not by the machine's own resolver: that one blocks a thread of four, and a few
 * names whose servers hang would hold up everybody's. A resolver of its own each time, so that none waits behind another
 * and a changed configuration is seen; connections are kept, so names are asked for seldom.
 */
export async function lookUpAll(hostname: string): Promise<string[]> {
  // By RFC 6761 nobody is asked about these.
  if (/(?:^|\.)localhost\.?$/i.test(hostname)) return ['127.0.0.1', '::1'];
  const resolver = new Resolver({ timeout: DNS_MS, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  return found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/**
 * A connection to an address that was vetted before the first packet left. The name is resolved once, and the
 * addresses that were judged are handed to the socket: resolving again to connect would let a name answer first
 * with a public address and then with one of ours.
 * @throws {SendFailure}
 */
export async function openVettedConnection(target: Target, rules: ConnectionRules): Promise<Socket> {
  const deadline = new AbortController();
  const timer = setTimeout(() => deadline.abort(), rules.connectMs);
  try {
    const addresses = await beforeDeadline(vettedAddresses(target.hostname, rules), deadline.signal);
    const socket = connectTo(target, addresses);
    await opened(socket, 'connect', 'connect', deadline.signal);
    if (!target.secure) return socket;
    const secured = secure(socket, target, rules);
    await opened(secured, 'secureConnect', 'tls', deadline.signal);
    return secured;
  } finally {
    clearTimeout(timer);
  }
}

/** One address that is not allowed refuses the name: who mixes ours among theirs waits for us to pick it. */
async function vettedAddresses(hostname: string, rules: ConnectionRules): Promise<readonly string[]> {
  const addresses = isIP(hostname) === 0 ? await resolved(hostname, rules.resolve) : [hostname];
  if (!addresses.every((address) => isIP(address) !== 0 && rules.isAllowed(address)))
    throw new SendFailure('refused_address');
  return addresses;
}

async function resolved(hostname: string, resolve: Resolve): Promise<readonly string[]> {
  try {
    const addresses = await resolve(hostname);
    if (addresses.length > 0) return addresses;
  } catch {
    // That the name does not exist and that nobody could be asked is one to the merchant.
  }
  throw new SendFailure('dns');
}

function connectTo(target: Target, addresses: readonly string[]): Socket {
  const found = addresses.map((address) => ({ address, family: isIP(address) }));
  const socket = connect({
    host: target.hostname,
    port: target.port,
    // Not called for a host that is itself an address; that one was vetted as it stands.
    lookup: (_hostname, _options, done) => done(null, found),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_MS,
    noDelay: true,
  });
  // The socket changes hands twice; an error while nobody listens would end the process.
  return socket.on('error', () => undefined);
}

function secure(socket: Socket, { hostname }: Target, { ca }: ConnectionRules): Socket {
  // No session is resumed: a resumed one skips the check of the name.
  const secured = connectTls({
    socket,
    host: hostname,
    ...(isIP(hostname) === 0 ? { servername: hostname } : {}),
    ...(ca === undefined ? {} : { ca }),
    ALPNProtocols: ['http/1.1'],
    minVersion: 'TLSv1.2',
    // Said here because a variable of the environment can turn Node's own default off.
    rejectUnauthorized: true,
  });
  return secured.on('error', () => undefined);
}

/** Waits for the event that says the socket is open; a socket that is not in time is destroyed. */
function opened(
  socket: Socket,
  event: 'connect' | 'secureConnect',
  otherwise: FailureReason,
  deadline: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      reject(new SendFailure('timeout'));
      socket.destroy();
    };
    deadline.addEventListener('abort', giveUp, { once: true });
    const settled = (settle: () => void) => () => {
      deadline.removeEventListener('abort', giveUp);
      settle();
    };
    socket.once(event, settled(resolve));
    socket.once(
      'close',
      settled(() => reject(new SendFailure(otherwise))),
    );
  });
}

function beforeDeadline<T>(work: Promise<T>, deadline: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    deadline.addEventListener('abort', () => reject(new SendFailure('timeout')), { once: true });
    work.then(resolve, reject);
  });
}
