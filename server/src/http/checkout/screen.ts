import type { CheckoutState, PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { isFinal } from '../../payins/payin.states.ts';
import { RAILS, type Rail } from '../../rails/contract.ts';

/** The content of a page: one action or one message. */
export type Screen =
  | { readonly kind: 'method'; readonly rails: readonly Rail[] }
  /** Only one method and no missing data: a button starts the attempt. */
  | { readonly kind: 'start' }
  | { readonly kind: 'bank'; readonly next: 'details' | 'begin' }
  | {
      readonly kind: 'details';
      readonly rail: Rail;
      readonly bank: string | null;
      readonly personType: PersonType | null;
    }
  | { readonly kind: 'opening' | 'to_bank' | 'pending' | 'key' | 'closing'; readonly attempt: PagePayin }
  | {
      readonly kind: 'underpaid' | 'confirmed' | 'declined' | 'canceled' | 'key_expired';
      readonly attempt: PagePayin;
    }
  | { readonly kind: 'already_paid'; readonly attempt: PagePayin }
  /** All methods are paused. */
  | { readonly kind: 'unavailable' }
  /** The operator has suspended the shop. */
  | { readonly kind: 'suspended' }
  | { readonly kind: 'link_expired' }
  | { readonly kind: 'payin_expired' };

export type PersonType = 'INDIVIDUAL' | 'BUSINESS';

/** Input besides the checkout state: query parameters, cookies and rail pauses. */
export interface ScreenInput {
  /** Selections before an attempt starts. */
  readonly rail: Rail | null;
  readonly bank: string | null;
  readonly personType: PersonType | null;
  /** Ignore the last attempt and offer a new one. */
  readonly restart: boolean;
  /** The payer just started the attempt: redirect to the bank. */
  readonly justStarted: boolean;
  /** Payin ids of the attempts that this browser started on the link, newest first. */
  readonly ownAttemptIds: readonly string[];
  /** Whether a rail accepts no new payments now. */
  readonly paused: (rail: Rail) => boolean;
}

export function chooseScreen(state: CheckoutState, input: ScreenInput): Screen {
  if (state.link === null) return payinScreen(state, state.attempt, input);
  const { link, attempt, now } = state;
  if (attempt && link.status === 'COMPLETED')
    return { kind: input.ownAttemptIds.includes(attempt.payin.id) ? 'confirmed' : 'already_paid', attempt };
  if (attempt && link.openPayinId === attempt.payin.id) return openAttemptScreen(attempt, input, now);
  // Shown until the payer starts another attempt.
  const startsAnother = input.restart || input.rail !== null;
  if (attempt?.payin.status === 'CONFIRMED' && !startsAnother) return { kind: 'underpaid', attempt };
  const isClosed = link.status === 'EXPIRED' || link.closesAt <= now;
  const isOwn = attempt !== null && input.ownAttemptIds.includes(attempt.payin.id) && !startsAnother;
  if (isClosed) return { kind: 'link_expired' };
  if (isOwn) return endedAttemptScreen(attempt);
  if (state.suspended) return { kind: 'suspended' };
  return startScreen(state, input);
}

function payinScreen(state: CheckoutState, attempt: PagePayin, input: ScreenInput): Screen {
  const { payin } = attempt;
  if (!isFinal(payin.status)) {
    const isExpired = payin.expiresAt <= state.now;
    if (payin.source.rail === 'PSE' && payin.customer === null)
      return isExpired
        ? { kind: 'payin_expired' }
        : { kind: 'details', rail: 'PSE', bank: payin.source.bank, personType: payin.source.personType };
    return openAttemptScreen(attempt, input, state.now);
  }
  if (payin.errorCode === 'UNDERPAID') return { kind: 'underpaid', attempt };
  if (payin.status === 'CONFIRMED') return { kind: 'confirmed', attempt };
  return payin.errorCode === 'EXPIRED' ? { kind: 'payin_expired' } : endedAttemptScreen(attempt);
}

function openAttemptScreen(attempt: PagePayin, input: ScreenInput, now: Date): Screen {
  const { payin } = attempt;
  if (payin.source.rail === 'BRE_B') return { kind: payin.expiresAt <= now ? 'closing' : 'key', attempt };
  if (payin.source.page === null) return { kind: payin.expiresAt <= now ? 'closing' : 'opening', attempt };
  return { kind: input.justStarted ? 'to_bank' : 'pending', attempt };
}

function endedAttemptScreen(attempt: PagePayin): Screen {
  const { status, errorCode, source } = attempt.payin;
  if (status === 'DECLINED') return { kind: 'declined', attempt };
  return { kind: errorCode === 'EXPIRED' && source.rail === 'BRE_B' ? 'key_expired' : 'canceled', attempt };
}

/** Steps before an attempt: method, bank, details. Known steps are skipped. */
function startScreen({ link, shop }: CheckoutState, input: ScreenInput): Screen {
  const rails = RAILS.filter(
    (rail) => shop.organization.rails.has(rail) && (link?.rail ?? rail) === rail && !input.paused(rail),
  );
  if (rails.length === 0) return { kind: 'unavailable' };
  const [only] = rails.length === 1 ? rails : [];
  const rail = only ?? (input.rail !== null && rails.includes(input.rail) ? input.rail : null);
  if (rail === null) return { kind: 'method', rails };
  const hasCustomer = link?.customer !== null;
  if (rail === 'BRE_B')
    return hasCustomer ? { kind: 'start' } : { kind: 'details', rail, bank: null, personType: null };
  if (input.bank === null || input.personType === null || hasCustomer)
    return { kind: 'bank', next: hasCustomer ? 'begin' : 'details' };
  return { kind: 'details', rail, bank: input.bank, personType: input.personType };
}
