import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';

const TYPES = { A: 1, CNAME: 5, AAAA: 28 } as const;

export interface DnsRecord {
  readonly type: keyof typeof TYPES;
  /** Defaults to the queried name; differs in a CNAME chain. */
  readonly name?: string;
  /** An IP address, or the target name of a CNAME. */
  readonly data: string;
}

export interface DnsQuery {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
  /** How many earlier queries had this name and type. */
  readonly previousQueries: number;
}

export interface DnsServer {
  readonly queries: readonly DnsQuery[];
  /** Resolves all addresses of a name through this server. */
  readonly resolve: (hostname: string) => Promise<string[]>;
  stop(): Promise<void>;
}

/** A DNS server with scripted answers and a TTL of zero. An answer of null means no response. */
export async function startDnsServer(
  answer: (query: DnsQuery) => readonly DnsRecord[] | null,
  at: { readonly address: string; readonly port: number } = { address: '127.0.0.1', port: 0 },
): Promise<DnsServer> {
  const queries: DnsQuery[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const { name, type, end } = readQuestion(message);
    const previousQueries = queries.filter((other) => other.name === name && other.type === type).length;
    const query = { name, type, previousQueries };
    queries.push(query);
    const records = answer(query);
    if (records) socket.send(response(message.subarray(0, end), name, records), peer.port, peer.address);
  });
  await new Promise<void>((resolve) => socket.bind(at.port, at.address, resolve));
  const resolver = new Resolver({ timeout: PATIENCE_MS, tries: 1 });
  resolver.setServers([`${at.address}:${socket.address().port}`]);
  return {
    queries,
    resolve: async (hostname) => {
      const found = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
      const addresses = found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
      if (addresses.length === 0) throw new Error('no address');
      return addresses;
    },
    stop: () => {
      resolver.cancel();
      return new Promise((resolve) => socket.close(() => resolve()));
    },
  };
}

function readQuestion(message: Buffer): { name: string; type: 'A' | 'AAAA'; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (message.readUInt8(at) !== 0) {
    const length = message.readUInt8(at);
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  const type = message.readUInt16BE(at + 1) === TYPES.AAAA ? 'AAAA' : 'A';
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 };
}

/** Echoes the question and appends the records. No records: the name exists without a record of that type. */
function response(question: Buffer, name: string, records: readonly DnsRecord[]): Buffer {
  const head = Buffer.from(question);
  head.writeUInt16BE(0x8580, 2);
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8);
  return Buffer.concat([head, ...records.map((record) => recordBytes(record, name))]);
}

function recordBytes({ type, name, data }: DnsRecord, queriedName: string): Buffer {
  const bytes = type === 'CNAME' ? nameBytes(data) : addressBytes(data);
  const middle = Buffer.alloc(10);
  middle.writeUInt16BE(TYPES[type], 0);
  middle.writeUInt16BE(1, 2);
  middle.writeUInt16BE(bytes.length, 8);
  return Buffer.concat([nameBytes(name ?? queriedName), middle, bytes]);
}

function nameBytes(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`\0${label}`, 'latin1'));
  for (const label of labels) label.writeUInt8(label.length - 1, 0);
  return Buffer.concat([...labels, Buffer.of(0)]);
}

function addressBytes(address: string): Buffer {
  if (!address.includes(':')) return Buffer.from(address.split('.').map(Number));
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string) =>
    text === '' ? [] : text.split(':').map((group) => group.padStart(4, '0'));
  const head = groups(left);
  const tail = groups(right);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0000');
  return Buffer.from([...head, ...zeros, ...tail].join(''), 'hex');
}
