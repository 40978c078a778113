import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { PATIENCE_MS } from '../../../scripts/testing/patience.ts';
import { type SenderOptions, WebhookSender } from '../../src/webhooks/sending/webhook-sender.ts';
import { OK, type RawPeer, startRawPeer } from '../harness/raw-peer.ts';

const NAME = 'hooks.shop.example';
const OPENSSL = spawnSync('openssl', ['version']).status === 0;
if (!OPENSSL) process.stderr.write('SKIPPED, webhooks over TLS: openssl is missing\n');

const folder = mkdtempSync(join(tmpdir(), 'caudal-tls-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

/** Self-signed: trusting it trusts only this certificate. */
function certificate(file: string, alternativeName: string): Certificate {
  const [key, cert] = [join(folder, `${file}.key`), join(folder, `${file}.pem`)];
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const names = ['-subj', '/CN=test', '-addext', `subjectAltName=${alternativeName}`];
  execFileSync('openssl', [...request, ...names, '-days', '2', '-keyout', key, '-out', cert], {
    stdio: 'pipe',
  });
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
}

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function startPeer(tls: Certificate): Promise<RawPeer> {
  const peer = await startRawPeer((socket) => socket.write(OK), { tls });
  stops.push(() => peer.stop());
  return peer;
}

function post(peer: { readonly port: number }, host: string, options: SenderOptions) {
  const from = new WebhookSender({
    resolve: () => Promise.resolve(['127.0.0.7']),
    isAllowed: (address) => address === '127.0.0.7',
    connectMs: PATIENCE_MS,
    totalMs: PATIENCE_MS,
    ...options,
  });
  stops.push(() => from.close());
  return from.send({ url: `https://${host}:${peer.port}/`, headers: {}, body: Buffer.from('{}') });
}

describe.skipIf(!OPENSSL)('a webhook over TLS', () => {
  let shop: Certificate;
  let other: Certificate;
  let address: Certificate;
  beforeAll(() => {
    shop = certificate('shop', `DNS:${NAME}`);
    other = certificate('other', 'DNS:other.example');
    address = certificate('address', 'IP:127.0.0.7');
  });

  it('sends the host name as SNI and verifies it, although it connects to a checked address', async () => {
    const peer = await startPeer(shop);
    expect(await post(peer, NAME, { ca: shop.cert })).toMatchObject({ kind: 'answered', status: 200 });
    expect(peer.requests[0]?.servername).toBe(NAME);
  });

  it('accepts a certificate for an IP address', async () => {
    const peer = await startPeer(address);
    expect(await post(peer, '127.0.0.7', { ca: address.cert })).toMatchObject({
      kind: 'answered',
      status: 200,
    });
  });

  it('is not sent when the certificate is for another name', async () => {
    const peer = await startPeer(other);
    expect(await post(peer, NAME, { ca: other.cert })).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(await post(peer, '127.0.0.7', { ca: other.cert })).toMatchObject({
      kind: 'failed',
      reason: 'tls',
    });
    expect(peer.requests).toEqual([]);
  });

  it('is not sent when the certificate is untrusted', async () => {
    const peer = await startPeer(shop);
    expect(await post(peer, NAME, {})).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(await post(peer, NAME, { ca: other.cert })).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(peer.requests).toEqual([]);
  });

  it('is not sent when the certificate is untrusted and the environment disables verification', async () => {
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    stops.push(() => Reflect.deleteProperty(process.env, 'NODE_TLS_REJECT_UNAUTHORIZED'));
    const peer = await startPeer(shop);
    expect(await post(peer, NAME, {})).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(peer.requests).toEqual([]);
  });

  it('is not sent to a plain HTTP port', async () => {
    let requests = 0;
    const plain = createServer((_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.7', resolve));
    stops.push(() => new Promise((resolve) => plain.close(resolve)));
    const { port } = plain.address() as AddressInfo;
    expect(await post({ port }, NAME, { ca: shop.cert })).toMatchObject({ kind: 'failed', reason: 'tls' });
    expect(requests).toBe(0);
  });
});
