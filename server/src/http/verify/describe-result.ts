import type { CheckResult } from './check-result.ts';
import type { VerifyMessages } from './verify-messages.ts';

/** The result as people read it. */
export interface ResultText {
  readonly tone: 'good' | 'bad' | 'wait';
  readonly title: string;
  readonly lines: readonly string[];
  readonly rows: readonly (readonly [label: string, value: string])[];
}

/** Formats of the checkout pages, passed as parameters because the function runs in browsers too. */
interface Formats {
  readonly moneyText: (amount: bigint) => string;
  readonly bogotaTime: (at: Date, language: string) => string;
}

/**
 * Describes a result in plain words. The page of `/verificar` runs the source text of this function: it must not refer to
 * anything outside of itself.
 */
export function describeResult(
  { verdict, facts, state }: CheckResult,
  messages: VerifyMessages,
  { moneyText, bogotaTime }: Formats,
): ResultText {
  if (verdict !== 'authentic') {
    const { title, about } = messages.rejected[verdict];
    const tone = ['busy', 'code_offline', 'invalid_code'].includes(verdict) ? 'wait' : 'bad';
    return { tone, title, lines: [about], rows: [] };
  }
  const locale = messages.language === 'es' ? 'es-CO' : 'en';
  const at = facts ? bogotaTime(facts.signedAt, locale) : '';
  const { title, about } = messages.states[state];
  const isTest = facts?.environment === 'test';
  const tone =
    state === 'returned' || state === 'reversed' ? 'bad' : isTest || state === 'unknown' ? 'wait' : 'good';
  const { labels } = messages;
  return {
    tone,
    title: isTest && tone !== 'bad' ? messages.test.title : title,
    lines: [...(isTest ? [messages.test.about] : []), about.replace('{signedAt}', at)],
    rows: facts
      ? [
          [labels.amount, `${moneyText(facts.amountInCents)} ${facts.currency}`],
          [labels.shop, facts.shop],
          ...(facts.taxId === null ? [] : [[labels.taxId, facts.taxId] as const]),
          [labels.paidAt, bogotaTime(facts.paidAt, locale)],
          [labels.reference, facts.reference],
          [labels.rail, facts.rail === 'PSE' ? 'PSE' : 'Bre-B'],
          ...(facts.trace === null ? [] : [[labels.trace, facts.trace] as const]),
          [labels.code, facts.code.replace(/(.{4})(?=.)/g, '$1-')],
          [labels.signedAt, at],
        ]
      : [],
  };
}
