/**
 * Runs in a network namespace where every address leads to this machine (sender.namespace.test.ts), so that a
 * packet to any of them arrives and is counted. Prints its report as JSON.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { type SendResult, WebhookSender } from '../../src/webhooks/sending/webhook-sender.ts';
import { type DnsQuery, type DnsRecord, startDnsServer } from '../harness/dns-server.ts';
import { OK } from '../harness/raw-peer.ts';
import { NON_PUBLIC_DNS_ANSWERS, NON_PUBLIC_URLS } from './non-public-addresses.ts';

export interface NamespaceReport {
  readonly forms: number;
  /** Forms that were not rejected, with their outcome. */
  readonly accepted: readonly string[];
  /** Packets on the only interface while the forms were tried. */
  readonly packets: number;
  /** Addresses that received a connection meanwhile. */
  readonly connected: readonly string[];
  /** What a sender without rules reaches, by receiving address: proves that the canaries work. */
  readonly reachable: Readonly<Record<string, string>>;
  readonly packetsWithoutRules: number;
  /** Outcome per name, with the system resolver. */
  readonly names: Readonly<Record<string, string>>;
  readonly connectedByNames: readonly string[];
  /** A slow process also connects to the second address of a name, but sends one request. */
  readonly requestsByNames: number;
}

/** No answer depends on how fast this process runs. */
const PATIENT = { connectMs: PATIENCE_MS, totalMs: PATIENCE_MS };
const PUBLIC = ['8.8.4.4', '2606:4700:4700::1111'];
const INSIDE = [
  '127.0.0.1',
  '::1',
  '10.1.2.3',
  '172.16.5.6',
  '192.168.7.8',
  '169.254.169.254',
  'fd00:ec2::254',
];
const REDIRECT = 'HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n';

const connected: string[] = [];
let requests = 0;

async function listenEverywhere(port: number): Promise<void> {
  const server = createServer((socket) => {
    connected.push((socket.localAddress ?? '').replace('::ffff:', ''));
    socket.on('error', () => undefined);
    socket.once('data', (text) => {
      requests += 1;
      socket.end(text.toString().includes('/redirect') ? REDIRECT : OK);
    });
  });
  await new Promise<void>((resolve) => server.listen(port, '::', resolve));
}

function countPackets(): number {
  const line = readFileSync('/proc/net/dev', 'utf8').match(/lo:\s*\d+\s+(\d+)/);
  return Number(line?.[1]);
}

function describeResult(result: SendResult): string {
  return result.kind === 'answered' ? String(result.status) : result.reason;
}

async function post(from: WebhookSender, url: string): Promise<string> {
  return describeResult(await from.send({ url, headers: {}, body: Buffer.from('{}') }));
}

async function tryForms(): Promise<{ forms: number; accepted: string[] }> {
  const accepted: string[] = [];
  const check = (name: string, outcome: string, expected = 'refused_address') => {
    if (outcome !== expected) accepted.push(`${name}: ${outcome}`);
  };
  const byName = new WebhookSender({ ...PATIENT, resolve: () => Promise.resolve(['127.0.0.1']) });
  for (const { name, text } of NON_PUBLIC_URLS) {
    const expected = URL.canParse(text) ? 'refused_address' : 'malformed';
    check(name, await post(byName, text), expected);
    check(`${name} by http`, await post(byName, text.replace(/^https/i, 'http')), expected);
  }
  for (const { name, text } of NON_PUBLIC_DNS_ANSWERS) {
    for (const answer of [[text], [...PUBLIC, text], [text, ...PUBLIC]]) {
      const sender = new WebhookSender({ ...PATIENT, resolve: () => Promise.resolve(answer) });
      check(`${name} among ${answer.length}`, await post(sender, 'http://hooks.shop.example/'));
    }
  }
  return { forms: NON_PUBLIC_URLS.length * 2 + NON_PUBLIC_DNS_ANSWERS.length * 3, accepted };
}

async function reachableWithoutRules(): Promise<Record<string, string>> {
  const anywhere = new WebhookSender({ ...PATIENT, isAllowed: () => true });
  const reached: Record<string, string> = {};
  for (const address of [...INSIDE, ...PUBLIC]) {
    const host = address.includes(':') ? `[${address}]` : address;
    const outcome = await post(anywhere, `http://${host}/`);
    reached[connected.at(-1) ?? ''] = outcome;
  }
  return reached;
}

const a = (data: string): DnsRecord => ({ type: 'A', data });
const aaaa = (data: string): DnsRecord => ({ type: 'AAAA', data });

const NAMES: Readonly<Record<string, (question: DnsQuery) => readonly DnsRecord[]>> = {
  'outside.example': ({ type }) => (type === 'A' ? [a('8.8.4.4')] : [aaaa('2606:4700:4700::1111')]),
  'redirect.example': ({ type }) => (type === 'A' ? [a('8.8.4.4')] : []),
  'ten.example': ({ type }) => (type === 'A' ? [a('10.1.2.3')] : []),
  'metadata.example': ({ type }) => (type === 'A' ? [a('169.254.169.254')] : []),
  'mixed.example': ({ type }) => (type === 'A' ? [a('8.8.4.4'), a('192.168.7.8')] : []),
  'six.example': ({ type }) => (type === 'A' ? [a('8.8.4.4')] : [aaaa('fd00:ec2::254')]),
  'mapped.example': ({ type }) => (type === 'A' ? [] : [aaaa('0:0:0:0:0:ffff:a01:203')]),
  'alias.example': ({ name, type }) =>
    type === 'A'
      ? [
          { type: 'CNAME', name, data: 'db.example' },
          { ...a('172.16.5.6'), name: 'db.example' },
        ]
      : [],
  'nobody.example': () => [],
};

/** Uses the C library as in production; this process is its DNS server. */
async function sendBySystemResolver(): Promise<Record<string, string>> {
  const dns = await startDnsServer((question) => NAMES[question.name]?.(question) ?? [], {
    address: '127.0.0.1',
    port: 53,
  });
  const from = new WebhookSender(PATIENT);
  const outcomes: Record<string, string> = {};
  for (const name of Object.keys(NAMES))
    outcomes[name] = await post(from, `http://${name}/${name.split('.')[0]}`);
  await dns.stop();
  return outcomes;
}

await listenEverywhere(80);
await listenEverywhere(443);
const before = countPackets();
const { forms, accepted } = await tryForms();
const packets = countPackets() - before;
const connectedByForms = connected.splice(0);
const reachable = await reachableWithoutRules();
const packetsWithoutRules = countPackets() - before - packets;
connected.length = 0;
requests = 0;
const names = await sendBySystemResolver();
const report: NamespaceReport = {
  forms,
  accepted,
  packets,
  connected: connectedByForms,
  reachable,
  packetsWithoutRules,
  names,
  connectedByNames: connected,
  requestsByNames: requests,
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));
