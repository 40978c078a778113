import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, type TLSSocket, type TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { TlsMaterial } from '../../src/kit/strict-tls.ts';
import { probeBreb } from '../../src/rails/breb/probe.ts';
import { probePse } from '../../src/rails/pse/probe.ts';
import { HAS_OPENSSL, type IssuedCertificate, TestAuthority } from '../harness/certificates.ts';
import { BREB, PSE, type RailUnderTest } from '../harness/rails-under-test.ts';
import { waitPatientlyForAnswers } from './patient-answers.ts';

if (!HAS_OPENSSL) process.stderr.write('SKIPPED, TLS to the rails: openssl is missing\n');

/** What TLS 1.0 and 1.1 need in OpenSSL 3. */
const OLD_CIPHERS = 'DEFAULT@SECLEVEL=0';

waitPatientlyForAnswers();
const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

interface TlsPeer {
  readonly url: string;
  readonly port: number;
  /** Path and client certificate of every request that arrived. */
  readonly requests: { path: string; client: string | null }[];
}

/** A rail behind TLS that gives every request a valid answer. */
async function startPeer(rail: RailUnderTest, options: TlsOptions): Promise<TlsPeer> {
  const requests: TlsPeer['requests'] = [];
  const status = { results: [rail.statusResponse('REF1')] };
  const server = createServer(options, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    const path = request.url ?? '';
    requests.push({ path, client: typeof subject?.CN === 'string' ? subject.CN : null });
    const token = { access_token: 'token', expires_in: 3600 };
    response.end(JSON.stringify(path.endsWith('/oauth/token') ? token : status));
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}`, port, requests };
}

function disableVerification(): void {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
  stops.push(() => Reflect.deleteProperty(process.env, 'NODE_TLS_REJECT_UNAUTHORIZED'));
}

/** Queries one status, which is unknown when the rail cannot be reached. */
async function call(rail: RailUnderTest, { url }: TlsPeer, tls: TlsMaterial | null): Promise<string> {
  const connector = rail.connect(url, 'the-secret', tls);
  stops.push(() => connector.disconnect());
  const [answer] = await connector.queryStatus(['REF1']);
  return answer?.kind === 'unknown' ? answer.cause : 'answered';
}

/** Whether a client without rules of its own gets a TLS connection: shows that the peer works. */
function connects(port: number, options: object): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...options });
    socket.once('secureConnect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('secureConnect', () => socket.destroy());
  });
}

describe.skipIf(!HAS_OPENSSL)('TLS to a rail', () => {
  let authority: TestAuthority;
  let other: TestAuthority;
  let valid: IssuedCertificate;
  let expired: IssuedCertificate;
  let otherName: IssuedCertificate;
  let client: IssuedCertificate;
  let trust: TlsMaterial;
  beforeAll(() => {
    authority = new TestAuthority();
    other = new TestAuthority();
    valid = authority.issue('rail', 'IP:127.0.0.1');
    expired = authority.issue('expired', 'IP:127.0.0.1', -1);
    otherName = authority.issue('other-name', 'DNS:rail.example');
    client = authority.issue('caudal-client', 'DNS:caudal.example');
    trust = { ca: authority.cert, client: null };
  });
  afterAll(() => {
    authority?.remove();
    other?.remove();
  });

  describe.each([BREB, PSE])('$rail', (rail) => {
    it('sends requests to a certificate of the configured authority', async () => {
      const peer = await startPeer(rail, valid);
      expect(await call(rail, peer, trust)).toBe('answered');
    });

    it('sends nothing to certificates of another authority, for another name, or expired', async () => {
      const wrongAuthority = { ca: other.cert, client: null };
      for (const [certificate, tls] of [
        [valid, null],
        [valid, wrongAuthority],
        [otherName, trust],
        [expired, trust],
      ] as const) {
        const peer = await startPeer(rail, certificate);
        expect(await call(rail, peer, tls)).not.toBe('answered');
        expect(peer.requests).toEqual([]);
      }
    });

    it('sends nothing to a man in the middle when NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
      const peer = await startPeer(rail, other.issue('middle', 'IP:127.0.0.1'));
      disableVerification();
      expect(await call(rail, peer, null)).not.toBe('answered');
      expect(await call(rail, peer, trust)).not.toBe('answered');
      const access = { url: peer.url, tls: null };
      const signal = AbortSignal.timeout(4000);
      const probed =
        rail.rail === 'BRE_B'
          ? await probeBreb({ ...access, clientId: 'id', clientSecret: 'secret', keyPrefix: 'CDL' }, signal)
          : await probePse({ ...access, entity: 'entity', secret: 'secret' }, signal);
      expect(probed.kind).toBe('unavailable');
      expect(peer.requests).toEqual([]);
    });

    it('refuses TLS 1.1', async () => {
      const old: TlsOptions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: OLD_CIPHERS };
      const peer = await startPeer(rail, { ...valid, ...old });
      expect(await connects(peer.port, { minVersion: 'TLSv1', ciphers: OLD_CIPHERS })).toBe(true);
      expect(await call(rail, peer, trust)).not.toBe('answered');
      expect(peer.requests).toEqual([]);
    });

    it('presents the client certificate that a rail demands', async () => {
      const peer = await startPeer(rail, {
        ...valid,
        ca: authority.cert,
        requestCert: true,
        rejectUnauthorized: true,
      });
      expect(await call(rail, peer, trust)).not.toBe('answered');
      expect(peer.requests).toEqual([]);
      const mutual = { ...trust, client: { cert: client.cert, key: client.key } };
      expect(await call(rail, peer, mutual)).toBe('answered');
      expect(new Set(peer.requests.map((request) => request.client))).toEqual(new Set(['caudal-client']));
    });
  });
});
