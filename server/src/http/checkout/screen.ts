import type { CheckoutState, PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { isFinal } from '../../payins/payin.states.ts';
import { RAILS, type Rail } from '../../rails/contract.ts';

/** What a page shows: one thing to do, or one thing to know. */
export type Screen =
  | { readonly kind: 'method'; readonly rails: readonly Rail[] }
  /** One method and nothing to ask: a tap begins. */
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
  /** No method can be used at the moment. */
  | { readonly kind: 'unavailable' }
  /** The operator of this service has frozen the shop. */
  | { readonly kind: 'suspended' }
  | { readonly kind: 'link_expired' }
  | { readonly kind: 'payin_expired' };

export type PersonType = 'INDIVIDUAL' | 'BUSINESS';

/** What the address and the browser say beside the visit. */
export interface Asked {
  /** Chosen on the way to an attempt. */
  readonly rail: Rail | null;
  readonly bank: string | null;
  readonly personType: PersonType | null;
  /** The last attempt is left behind: show how to begin again. */
  readonly again: boolean;
  /** Just begun: on to the bank. */
  readonly go: boolean;
  /** The attempt this browser began. */
  readonly mine: string | null;
  /** On which no payment is begun at the moment. */
  readonly paused: (rail: Rail) => boolean;
}

export function screenOf(state: CheckoutState, asked: Asked): Screen {
  if (state.link === null) return screenOfPayin(state, state.attempt, asked);
  const { link, attempt, now } = state;
  if (attempt && link.status === 'COMPLETED')
    return { kind: asked.mine === attempt.payin.id ? 'confirmed' : 'already_paid', attempt };
  if (attempt && link.openPayinId === attempt.payin.id) return screenOfOpen(attempt, asked, now);
  // Too little came: said until the payer goes on to another attempt.
  const goesOn = asked.again || asked.rail !== null;
  if (attempt?.payin.status === 'CONFIRMED' && !goesOn) return { kind: 'underpaid', attempt };
  const shut = link.status === 'EXPIRED' || link.shutsAt <= now;
  const mine = attempt !== null && asked.mine === attempt.payin.id && !asked.again && asked.rail === null;
  if (shut) return { kind: 'link_expired' };
  if (mine) return screenOfEnded(attempt);
  if (state.suspended) return { kind: 'suspended' };
  return beginning(state, asked);
}

function screenOfPayin(state: CheckoutState, attempt: PagePayin, asked: Asked): Screen {
  const { payin } = attempt;
  if (!isFinal(payin.status)) {
    const late = payin.expiresAt <= state.now;
    if (payin.source.rail === 'PSE' && payin.customer === null)
      return late
        ? { kind: 'payin_expired' }
        : { kind: 'details', rail: 'PSE', bank: payin.source.bank, personType: payin.source.personType };
    return screenOfOpen(attempt, asked, state.now);
  }
  if (payin.errorCode === 'UNDERPAID') return { kind: 'underpaid', attempt };
  if (payin.status === 'CONFIRMED') return { kind: 'confirmed', attempt };
  return payin.errorCode === 'EXPIRED' ? { kind: 'payin_expired' } : screenOfEnded(attempt);
}

function screenOfOpen(attempt: PagePayin, asked: Asked, now: Date): Screen {
  const { payin } = attempt;
  if (payin.source.rail === 'BRE_B') return { kind: payin.expiresAt <= now ? 'closing' : 'key', attempt };
  if (payin.source.page === null) return { kind: payin.expiresAt <= now ? 'closing' : 'opening', attempt };
  return { kind: asked.go ? 'to_bank' : 'pending', attempt };
}

function screenOfEnded(attempt: PagePayin): Screen {
  const { status, errorCode, source } = attempt.payin;
  if (status === 'DECLINED') return { kind: 'declined', attempt };
  return { kind: errorCode === 'EXPIRED' && source.rail === 'BRE_B' ? 'key_expired' : 'canceled', attempt };
}

/** The way to an attempt: method, then bank, then details, each only where it is not known. */
function beginning({ link, shop }: CheckoutState, asked: Asked): Screen {
  const rails = RAILS.filter(
    (rail) => shop.organization.rails.has(rail) && (link?.rail ?? rail) === rail && !asked.paused(rail),
  );
  if (rails.length === 0) return { kind: 'unavailable' };
  const [only] = rails.length === 1 ? rails : [];
  const rail = only ?? (asked.rail !== null && rails.includes(asked.rail) ? asked.rail : null);
  if (rail === null) return { kind: 'method', rails };
  const known = link?.customer !== null;
  if (rail === 'BRE_B')
    return known ? { kind: 'start' } : { kind: 'details', rail, bank: null, personType: null };
  if (asked.bank === null || asked.personType === null || known)
    return { kind: 'bank', next: known ? 'begin' : 'details' };
  return { kind: 'details', rail, bank: asked.bank, personType: asked.personType };
}
