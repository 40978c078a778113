import type { AddressInfo } from 'node:net';
import { SMTPServer } from 'smtp-server';
import { until } from '../harness/until.ts';

interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  /** Head and body with quoted-printable decoded. */
  readonly content: string;
}

/** An SMTP server on loopback that keeps what it receives. */
export class SmtpInbox {
  readonly #server: SMTPServer;
  readonly mails: ReceivedMail[] = [];
  /** Messages to reject with this status. */
  rejects: { times: number; status: number } = { times: 0, status: 451 };

  private constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disabledCommands: ['STARTTLS'],
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          if (this.rejects.times > 0) {
            this.rejects.times -= 1;
            return done(Object.assign(new Error('try later'), { responseCode: this.rejects.status }));
          }
          const { mailFrom, rcptTo } = session.envelope;
          this.mails.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            content: decode(Buffer.concat(chunks).toString('latin1')),
          });
          done();
        });
      },
    });
  }

  static async open(): Promise<SmtpInbox> {
    const inbox = new SmtpInbox();
    await new Promise<void>((resolve) => inbox.#server.listen(0, '127.0.0.1', resolve));
    return inbox;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.#server.server.address() as AddressInfo).port}`;
  }

  mailTo(address: string): Promise<ReceivedMail> {
    return until(`a mail to ${address} arrives`, () =>
      Promise.resolve(this.mails.find(({ to }) => to.includes(address))),
    );
  }

  close(): Promise<void> {
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

function decode(raw: string): string {
  const bytes = raw
    .replaceAll('=\r\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
