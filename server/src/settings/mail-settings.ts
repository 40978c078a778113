import { z } from 'zod';

/** Settings of e-mails to payers. */
export const MAIL_SETTINGS = {
  CAUDAL_SMTP_URL: z
    .url({ protocol: /^smtps?$/ })
    // Parameters could turn off TLS or the verification of certificates.
    .refine((value) => !value.includes('?'), 'takes no parameters')
    .optional()
    .describe(
      'SMTP server that sends receipts, with its credentials: `smtps://user:password@host:465` or `smtp://…` with STARTTLS. Production requires TLS. Not set: pages offer no e-mail.',
    ),
  CAUDAL_MAIL_FROM: z
    .string()
    .min(3)
    .max(200)
    .regex(/^[^\r\n]*@[^\r\n]*$/, 'an e-mail address, or `Name <address>`')
    .optional()
    .describe(
      'Sender of e-mails: an address, or `Name <address>`. Set it on every process: pages offer e-mail only with it.',
    ),
} as const;
