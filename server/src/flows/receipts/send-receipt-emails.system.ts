import { decryptValue } from '../../db/columns.ts';
import type { SystemDeps } from '../../deps.ts';
import { backoffMs } from '../../kit/backoff.ts';
import { newLeaseToken } from '../../kit/ids.ts';
import { errorFields } from '../../kit/log.ts';
import type { DataKeys } from '../../organizations/data-keys.ts';
import type { Shops } from '../../organizations/shops.ts';
import { MailError, type Mailer } from '../../receipts/mailer.ts';
import {
  endEmail,
  type LeasedEmail,
  leaseEmails,
  postponeEmail,
} from '../../receipts/receipt-email.store.ts';
import { loadReceipt } from '../payment-links/load-checkout.ts';
import { issueReceipt } from './issue-receipt.ts';
import { receiptEmail } from './receipt-email-text.ts';

/** Connections to the SMTP server at a time. */
const BATCH_SIZE = 10;
/** With the delays below, the last attempt is about a day after the first. */
const MAX_ATTEMPTS = 12;
const FIRST_DELAY_MS = 60_000;
const MAX_DELAY_MS = 3 * 3_600_000;

interface Parts {
  readonly deps: SystemDeps;
  readonly keys: DataKeys;
  readonly shops: Shops;
  /** Null if the deployment sends no e-mail: the queue stays as it is. */
  readonly mailer: Mailer | null;
}

/** Sends queued receipts by e-mail, at least once. */
export class ReceiptEmailSender {
  readonly #parts: Parts;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** @returns the number of e-mails worked on; call again immediately until it is 0 */
  async send(): Promise<number> {
    const { deps, mailer } = this.#parts;
    if (!mailer) return 0;
    const leaseToken = newLeaseToken();
    const emails = await deps.system.transaction('send receipt emails', (tx) =>
      leaseEmails(tx, leaseToken, BATCH_SIZE),
    );
    await Promise.all(emails.map((email) => this.#sendOne(mailer, email, leaseToken)));
    return emails.length;
  }

  async #sendOne(mailer: Mailer, email: LeasedEmail, leaseToken: string): Promise<void> {
    const { deps } = this.#parts;
    const end = (sent: boolean) =>
      deps.system.transaction('send receipt emails', (tx) => endEmail(tx, email, leaseToken, sent));
    try {
      const mail = await this.#compose(email);
      if (mail) await mailer.send(mail);
      await end(mail !== null);
    } catch (error) {
      const { organizationId, payinId, attempts } = email;
      const isLast = attempts >= MAX_ATTEMPTS || (error instanceof MailError && error.permanent);
      const status = error instanceof MailError ? error.smtpStatus : null;
      const fields = { code: 'receipt_email_failed', organizationId, payinId, attempt: attempts, status };
      deps.log.warn(
        { ...errorFields(error), ...fields },
        isLast ? 'gave up sending a receipt by e-mail' : 'failed to send a receipt by e-mail; it is retried',
      );
      if (isLast) return end(false);
      const delayMs = backoffMs(attempts, FIRST_DELAY_MS, MAX_DELAY_MS);
      await deps.system.transaction('send receipt emails', (tx) =>
        postponeEmail(tx, email, leaseToken, delayMs),
      );
    }
  }

  /** @returns null if there is no payment to certify any more */
  async #compose(email: LeasedEmail) {
    const { deps, keys, shops } = this.#parts;
    const { organizationId, organizationNumber, id, payinId, encryptedAddress, language } = email;
    const token = deps.receiptTokens.make({ organizationNumber, id: payinId }, deps.cell);
    const state = await loadReceipt(deps, shops, token);
    const receipt = state && (await issueReceipt(deps, state));
    if (receipt?.state !== 'confirmed') return null;
    const { dataKey } = (await keys.load(new Set([organizationId])))(organizationId);
    const address = decryptValue(
      'receipt_emails',
      'address',
      { organizationId, id },
      encryptedAddress,
      dataKey,
    );
    return {
      to: String(address),
      ...receiptEmail({
        receipt,
        url: `${deps.checkoutUrl}/r/${token}?lang=${language}`,
        language,
        isTest: deps.environment !== 'production',
      }),
    };
  }
}
