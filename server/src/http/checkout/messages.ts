import { ATTEMPT_MESSAGES, type AttemptMessages } from './attempt-messages.ts';
import { IDENTITY_MESSAGES, type IdentityMessages } from './identity-messages.ts';
import { EN } from './messages-en.ts';
import { ES, type OwnMessages } from './messages-es.ts';
import { PAGE_MESSAGES, type PageMessages } from './page-messages.ts';
import { getReasons, type Reasons } from './reasons.ts';

/** Includes the decline reasons by errorCode. */
export type Messages = OwnMessages &
  AttemptMessages &
  PageMessages & { readonly reasons: Reasons; readonly identity: IdentityMessages };

export const MESSAGES: Readonly<Record<'es' | 'en', Messages>> = {
  es: {
    ...ES,
    ...ATTEMPT_MESSAGES.es,
    ...PAGE_MESSAGES.es,
    reasons: getReasons('es'),
    identity: IDENTITY_MESSAGES.es,
  },
  en: {
    ...EN,
    ...ATTEMPT_MESSAGES.en,
    ...PAGE_MESSAGES.en,
    reasons: getReasons('en'),
    identity: IDENTITY_MESSAGES.en,
  },
};

/** Version of the authorization text that the payer accepted. Change it whenever the text changes. */
export const AUTHORIZATION_TEXT_ID = 'datos-2026-11-2';

/** Replaces `{name}` placeholders with values. */
export function formatMessage(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/\{(\w+)\}/g, (placeholder, name: string) => values[name] ?? placeholder);
}
