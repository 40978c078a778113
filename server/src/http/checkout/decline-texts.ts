import type { PagePayin } from '../../flows/payment-links/load-checkout.ts';
import type { PayinErrorCode } from '../../payins/payin.ts';
import { moneyText } from './format.ts';
import { formatMessage, type Messages } from './messages.ts';
import type { ExcludedRail } from './offered-rails.ts';
import type { RenderContext } from './render-context.ts';

/** Declines that no bank decided: their heading must not say that the bank did not approve the payment. */
const UNAVAILABLE: ReadonlySet<PayinErrorCode> = new Set(['BANK_UNAVAILABLE', 'RAIL_TIMEOUT']);
const LIMITS: ReadonlySet<PayinErrorCode> = new Set(['LIMIT_EXCEEDED', 'NETWORK_LIMIT_EXCEEDED']);

/** Heading and reason of a declined attempt. A decline without an errorCode has no known reason. */
export function declineTexts(
  { messages, excludedRails }: RenderContext,
  { payin }: PagePayin,
): { readonly title: string; readonly reason: string } {
  const code = payin.errorCode ?? 'RAIL_REJECTED';
  const { declined, reasons } = messages;
  if (UNAVAILABLE.has(code)) return { title: declined.unavailableTitle, reason: reasons[code] };
  if (!LIMITS.has(code)) return { title: declined.title, reason: reasons[code] };
  // A rail reports an amount below its minimum with the same code as one above a limit.
  const excluded = excludedRails.find(({ rail }) => rail === payin.source.rail);
  return { title: declined.limitTitle, reason: excluded ? exclusionText(messages, excluded) : reasons[code] };
}

export function exclusionText(messages: Messages, excluded: ExcludedRail): string {
  const method = excluded.rail === 'PSE' ? messages.method.pse : messages.method.breb;
  if (excluded.reason === 'unavailable') return formatMessage(messages.unavailable.paused, { method });
  const text =
    excluded.reason === 'below_minimum' ? messages.declined.belowMinimum : messages.declined.aboveMaximum;
  return formatMessage(text, { method, limit: moneyText(excluded.limit) });
}
