/**
 * Runs in a network namespace where every address of the world is this machine (sender.namespace.test.ts), so that a
 * packet to any of them arrives and is counted. Prints what happened as JSON.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { type SendResult, WebhookSender } from '../../src/webhooks/sending/webhook-sender.ts';
import { type DnsQuestion, type DnsRecord, startDnsServer } from '../harness/dns-server.ts';
import { OK } from '../harness/raw-peer.ts';
import { INSIDE_ANSWERS, INSIDE_URLS } from './inside-addresses.ts';

export interface NamespaceReport {
  readonly forms: number;
  /** Forms that were not refused, and what became of them. */
  readonly slipped: readonly string[];
  /** Packets on the only interface there is, while the forms were tried. */
  readonly packets: number;
  /** Addresses that were connected to meanwhile. */
  readonly touched: readonly string[];
  /** What a sender without any rule reaches, by the address at which it arrived: the canaries do sing. */
  readonly reachable: Readonly<Record<string, string>>;
  readonly packetsOfReachable: number;
  /** What names lead to, by the machine's own resolver. */
  readonly names: Readonly<Record<string, string>>;
  readonly touchedByNames: readonly string[];
}

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

const touched: string[] = [];

async function listenEverywhere(port: number): Promise<void> {
  const server = createServer((socket) => {
    touched.push((socket.localAddress ?? '').replace('::ffff:', ''));
    socket.on('error', () => undefined);
    socket.once('data', (text) => socket.end(text.toString().includes('/redirect') ? REDIRECT : OK));
  });
  await new Promise<void>((resolve) => server.listen(port, '::', resolve));
}

function packetsSoFar(): number {
  const line = readFileSync('/proc/net/dev', 'utf8').match(/lo:\s*\d+\s+(\d+)/);
  return Number(line?.[1]);
}

function told(result: SendResult): string {
  return result.kind === 'answered' ? String(result.status) : result.reason;
}

async function post(from: WebhookSender, url: string): Promise<string> {
  return told(await from.send({ url, headers: {}, body: Buffer.from('{}') }));
}

async function tryForms(): Promise<{ forms: number; slipped: string[] }> {
  const slipped: string[] = [];
  const judge = (name: string, outcome: string, expected = 'refused_address') => {
    if (outcome !== expected) slipped.push(`${name}: ${outcome}`);
  };
  const byName = new WebhookSender({ resolve: () => Promise.resolve(['127.0.0.1']) });
  for (const { name, text } of INSIDE_URLS) {
    const expected = URL.canParse(text) ? 'refused_address' : 'malformed';
    judge(name, await post(byName, text), expected);
    judge(`${name} by http`, await post(byName, text.replace(/^https/i, 'http')), expected);
  }
  for (const { name, text } of INSIDE_ANSWERS) {
    for (const answer of [[text], [...PUBLIC, text], [text, ...PUBLIC]]) {
      const led = new WebhookSender({ resolve: () => Promise.resolve(answer) });
      judge(`${name} among ${answer.length}`, await post(led, 'http://hooks.shop.example/'));
    }
  }
  return { forms: INSIDE_URLS.length * 2 + INSIDE_ANSWERS.length * 3, slipped };
}

async function reachableWithoutRules(): Promise<Record<string, string>> {
  const anywhere = new WebhookSender({ isAllowed: () => true });
  const reached: Record<string, string> = {};
  for (const address of [...INSIDE, ...PUBLIC]) {
    const host = address.includes(':') ? `[${address}]` : address;
    const outcome = await post(anywhere, `http://${host}/`);
    reached[touched.at(-1) ?? ''] = outcome;
  }
  return reached;
}

const a = (data: string): DnsRecord => ({ type: 'A', data });
const aaaa = (data: string): DnsRecord => ({ type: 'AAAA', data });

const NAMES: Readonly<Record<string, (question: DnsQuestion) => readonly DnsRecord[]>> = {
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

/** Through the C library, as in production: its name server is this process. */
async function byTheMachinesResolver(): Promise<Record<string, string>> {
  const dns = await startDnsServer((question) => NAMES[question.name]?.(question) ?? [], {
    address: '127.0.0.1',
    port: 53,
  });
  const from = new WebhookSender();
  const outcomes: Record<string, string> = {};
  for (const name of Object.keys(NAMES))
    outcomes[name] = await post(from, `http://${name}/${name.split('.')[0]}`);
  await dns.stop();
  return outcomes;
}

await listenEverywhere(80);
await listenEverywhere(443);
const before = packetsSoFar();
const { forms, slipped } = await tryForms();
const packets = packetsSoFar() - before;
const touchedByForms = touched.splice(0);
const reachable = await reachableWithoutRules();
const packetsOfReachable = packetsSoFar() - before - packets;
touched.length = 0;
const names = await byTheMachinesResolver();
const report: NamespaceReport = {
  forms,
  slipped,
  packets,
  touched: touchedByForms,
  reachable,
  packetsOfReachable,
  names,
  touchedByNames: touched,
};
process.stdout.write(JSON.stringify(report), () => process.exit(0));
