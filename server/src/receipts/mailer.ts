import { createTransport, type Transporter } from 'nodemailer';
import { strictTls, type TlsMaterial } from '../kit/strict-tls.ts';

export interface MailSettings {
  readonly url: string;
  /** Sender, such as `Caudal <recibos@example.com>`. */
  readonly from: string;
  /** Reject servers without TLS. */
  readonly requireTls: boolean;
  readonly tls: TlsMaterial | null;
}

export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** Why an e-mail was not accepted. It contains no text of the server, which may repeat the address. */
export class MailError extends Error {
  /** The server will not accept a second attempt either. */
  readonly permanent: boolean;
  readonly smtpStatus: number | null;

  constructor(cause: unknown) {
    const { code, responseCode } = cause as { code?: unknown; responseCode?: unknown };
    super(`the SMTP server did not accept the e-mail (${typeof code === 'string' ? code : 'unknown cause'})`);
    this.smtpStatus = typeof responseCode === 'number' ? responseCode : null;
    // 5xx to the login means wrong credentials, which an operator can correct.
    this.permanent = this.smtpStatus !== null && this.smtpStatus >= 500 && code !== 'EAUTH';
  }
}

/** Sends e-mail by SMTP. Every step has a timeout, so that a silent server does not block the loop. */
export class Mailer {
  readonly #transport: Transporter;
  readonly #from: string;

  constructor({ url, from, requireTls, tls }: MailSettings) {
    this.#from = from;
    this.#transport = createTransport({
      url,
      requireTLS: requireTls,
      tls: strictTls(tls),
      connectionTimeout: 5000,
      greetingTimeout: 5000,
      socketTimeout: 10_000,
      disableFileAccess: true,
      disableUrlAccess: true,
    });
  }

  /** @throws MailError */
  async send({ to, subject, text, html }: Mail): Promise<void> {
    try {
      // As an object, so that the address is not parsed as a list of addresses.
      await this.#transport.sendMail({
        from: this.#from,
        to: { name: '', address: to },
        subject,
        text,
        html,
      });
    } catch (error) {
      throw new MailError(error);
    }
  }
}
