import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Mailer, type MailSettings } from '../../src/receipts/mailer.ts';
import { HAS_OPENSSL, type IssuedCertificate, TestAuthority } from '../harness/certificates.ts';

if (!HAS_OPENSSL) process.stderr.write('SKIPPED, SMTP over TLS: openssl is missing\n');

const MAIL = { to: 'luisa@correo.example', subject: 'Recibo', text: 'Recibo', html: '<p>Recibo</p>' };

const stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

/** An SMTP server with TLS; `logins` are the passwords that reached it. */
async function startServer(certificate: IssuedCertificate, secure: boolean) {
  const logins: string[] = [];
  const server = new SMTPServer({
    secure,
    key: certificate.key,
    cert: certificate.cert,
    onAuth: ({ password }, _session, done) => {
      logins.push(password ?? '');
      done(null, { user: 'caudal' });
    },
    onData: (stream, _session, done) => stream.on('end', () => done()).resume(),
  });
  server.on('error', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.push(() => new Promise<void>((resolve) => server.close(() => resolve())));
  const { port } = server.server.address() as AddressInfo;
  return { logins, url: `${secure ? 'smtps' : 'smtp'}://caudal:the-password@127.0.0.1:${port}` };
}

function send(url: string, tls: MailSettings['tls']): Promise<void> {
  return new Mailer({ url, from: 'recibos@caudal.example', requireTls: true, tls }).send(MAIL);
}

describe.skipIf(!HAS_OPENSSL).each([
  ['TLS', true],
  ['STARTTLS', false],
])('the mailer over %s', (_name, secure) => {
  let authority: TestAuthority;
  let certificate: IssuedCertificate;
  beforeAll(() => {
    authority = new TestAuthority();
    certificate = authority.issue('smtp', 'IP:127.0.0.1');
  });
  afterAll(() => authority?.remove());

  it('sends to a server of the configured authority', async () => {
    const { url, logins } = await startServer(certificate, secure);
    await send(url, { ca: authority.cert, client: null });
    expect(logins).toEqual(['the-password']);
  });

  it('sends no password to an unknown server when NODE_TLS_REJECT_UNAUTHORIZED is 0', async () => {
    const { url, logins } = await startServer(certificate, secure);
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    stops.push(() => Reflect.deleteProperty(process.env, 'NODE_TLS_REJECT_UNAUTHORIZED'));
    await expect(send(url, null)).rejects.toThrow('the SMTP server did not accept the e-mail');
    expect(logins).toEqual([]);
  });
});
