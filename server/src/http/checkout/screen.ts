import type { CheckoutState, PagePayin } from '../../flows/payment-links/load-checkout.ts';
import { isFinal } from '../../payins/payin.states.ts';
import type { Payin } from '../../payins/payin.ts';
import type { PaymentLink } from '../../payment-links/payment-link.ts';
import { RAILS, type Rail } from '../../rails/contract.ts';
import { undecidedPayment } from './money-notes.ts';

/** The content of a page: one action or one message. */
export type Screen =
  | { readonly kind: 'method'; readonly rails: readonly Rail[] }
  /** Bre-B is chosen: a button starts the attempt. */
  | { readonly kind: 'start' }
  | { readonly kind: 'bank'; readonly next: 'details' | 'begin' }
  | {
      readonly kind: 'details';
      readonly bank: string;
      readonly personType: PersonType;
    }
  | {
      readonly kind:
        | 'opening'
        | 'to_bank'
        /** The payer is back from the bank, and the rail has no outcome. */
        | 'bank_question'
        /** The payer says that they have paid. */
        | 'pending'
        /** Another browser is at the bank. */
        | 'other_payer'
        | 'key'
        | 'closing';
      readonly attempt: PagePayin;
    }
  | {
      readonly kind: 'underpaid' | 'confirmed' | 'declined' | 'canceled' | 'never_sent' | 'key_expired';
      readonly attempt: PagePayin;
    }
  /** A late or second payment arrived, and there is no decision about it. */
  | { readonly kind: 'held_money'; readonly canRetry: boolean }
  | { readonly kind: 'already_paid'; readonly attempt: PagePayin }
  /** No method can take the payment: all are paused or cannot carry the amount. */
  | { readonly kind: 'unavailable' }
  /** The operator has suspended the shop. */
  | { readonly kind: 'suspended' }
  | { readonly kind: 'link_expired' }
  | { readonly kind: 'payin_expired' };

export type PersonType = 'INDIVIDUAL' | 'BUSINESS';

/** Input besides the checkout state: query parameters, cookies and available rails. */
export interface ScreenInput {
  /** Selections before an attempt starts. */
  readonly rail: Rail | null;
  readonly bank: string | null;
  readonly personType: PersonType | null;
  /** Ignore the last attempt and offer a new one. */
  readonly restart: boolean;
  /** The payer just started the attempt: redirect to the bank. */
  readonly justStarted: boolean;
  /** The payer says that they authorized the payment at the bank. */
  readonly saysPaid: boolean;
  /** Payin ids of the attempts that this browser started on the link, newest first. */
  readonly ownAttemptIds: readonly string[];
  /** The rails that can take this payment now. */
  readonly offeredRails: readonly Rail[];
}

export function chooseScreen(state: CheckoutState, input: ScreenInput): Screen {
  if (state.link === null) return payinScreen(state, state.attempt, input);
  const { link, attempts, now } = state;
  if (link.status === 'COMPLETED') return completedScreen(link, attempts, input);
  const open = attempts.filter(({ payin }) => isOpen(link, payin));
  const wanted = open.filter(({ payin }) => (input.rail ?? payin.source.rail) === payin.source.rail);
  const shown = wanted.find(({ payin }) => input.ownAttemptIds.includes(payin.id)) ?? wanted[0];
  if (shown && !(input.restart && otherMethods(state, shown.payin.source.rail).length > 0))
    return openAttemptScreen(state, shown, input);
  // What arrived is shown until the payer starts another attempt.
  const startsAnother = input.restart || input.rail !== null;
  const isClosed = link.status === 'EXPIRED' || link.closesAt <= now;
  if (undecidedPayment(attempts) && (isClosed || !startsAnother))
    return { kind: 'held_money', canRetry: !isClosed };
  if (isClosed) return { kind: 'link_expired' };
  const part = attempts.find(({ payin }) => payin.errorCode === 'UNDERPAID');
  if (part && !startsAnother) return { kind: 'underpaid', attempt: part };
  const [last] = attempts;
  if (last && !startsAnother && input.ownAttemptIds.includes(last.payin.id)) return endedAttemptScreen(last);
  if (state.suspended) return { kind: 'suspended' };
  return startScreen(state, input);
}

function isOpen({ openBrebPayinId, openPsePayinId }: PaymentLink, { id }: Payin): boolean {
  return id === openBrebPayinId || id === openPsePayinId;
}

/** The rails on which an attempt can be started beside one on this rail. */
export function otherMethods({ link, shop, attempts, now }: CheckoutState, rail: Rail): readonly Rail[] {
  if (link === null || link.closesAt <= now) return [];
  return RAILS.filter(
    (other) =>
      other !== rail &&
      shop.organization.rails.has(other) &&
      (link.rail ?? other) === other &&
      !attempts.some(({ payin }) => payin.source.rail === other && isOpen(link, payin)),
  );
}

/** The receipt of one's own payment; a second payment of one's own; or a link that someone else paid. */
function completedScreen(link: PaymentLink, attempts: readonly PagePayin[], input: ScreenInput): Screen {
  const own = attempts.filter(({ payin }) => input.ownAttemptIds.includes(payin.id));
  const paidBy = attempts.find(({ payin }) => payin.id === link.payinId);
  if (!paidBy) throw new Error(`payment link ${link.id} is completed by a payin that is not its attempt`);
  const contributed = own.some(({ payin }) => payin === paidBy.payin || payin.errorCode === 'UNDERPAID');
  if (contributed) return { kind: 'confirmed', attempt: paidBy };
  return undecidedPayment(own)
    ? { kind: 'held_money', canRetry: false }
    : { kind: 'already_paid', attempt: paidBy };
}

function payinScreen(state: CheckoutState, attempt: PagePayin, input: ScreenInput): Screen {
  const { payin } = attempt;
  if (!isFinal(payin.status)) {
    const isExpired = payin.expiresAt <= state.now;
    if (payin.source.rail === 'PSE' && payin.customer === null)
      return isExpired
        ? { kind: 'payin_expired' }
        : { kind: 'details', bank: payin.source.bank, personType: payin.source.personType };
    return openAttemptScreen(state, attempt, input);
  }
  if (payin.errorCode === 'UNDERPAID') return { kind: 'underpaid', attempt };
  if (payin.status !== 'CONFIRMED' && undecidedPayment([attempt]))
    return { kind: 'held_money', canRetry: false };
  if (payin.status === 'CONFIRMED') return { kind: 'confirmed', attempt };
  return payin.errorCode === 'EXPIRED' ? { kind: 'payin_expired' } : endedAttemptScreen(attempt);
}

function openAttemptScreen({ link, now }: CheckoutState, attempt: PagePayin, input: ScreenInput): Screen {
  const { payin } = attempt;
  const isExpired = payin.expiresAt <= now;
  if (payin.source.rail === 'BRE_B') return { kind: isExpired ? 'closing' : 'key', attempt };
  if (payin.source.page === null) return { kind: isExpired ? 'closing' : 'opening', attempt };
  // The page of a payin without a link has a secret URL of its own.
  if (link !== null && !input.ownAttemptIds.includes(payin.id)) return { kind: 'other_payer', attempt };
  if (input.justStarted) return { kind: 'to_bank', attempt };
  return { kind: input.saysPaid ? 'pending' : 'bank_question', attempt };
}

function endedAttemptScreen(attempt: PagePayin): Screen {
  const { status, errorCode, source } = attempt.payin;
  if (status === 'DECLINED') return { kind: 'declined', attempt };
  if (errorCode !== 'EXPIRED') return { kind: 'canceled', attempt };
  if (source.rail === 'BRE_B') return { kind: 'key_expired', attempt };
  return { kind: source.page === null ? 'never_sent' : 'canceled', attempt };
}

/** Steps before an attempt: method, bank, details. Known steps are skipped. */
function startScreen({ link, attempts }: CheckoutState, input: ScreenInput): Screen {
  const isBusy = (rail: Rail) =>
    link !== null && attempts.some(({ payin }) => payin.source.rail === rail && isOpen(link, payin));
  const rails = input.offeredRails.filter((rail) => !isBusy(rail));
  if (rails.length === 0) return { kind: 'unavailable' };
  const [only] = rails.length === 1 ? rails : [];
  const rail = only ?? (input.rail !== null && rails.includes(input.rail) ? input.rail : null);
  if (rail === null) return { kind: 'method', rails };
  // Bre-B needs no data of the payer: the key comes first.
  if (rail === 'BRE_B') return { kind: 'start' };
  const hasCustomer = link?.customer !== null;
  if (input.bank === null || input.personType === null || hasCustomer)
    return { kind: 'bank', next: hasCustomer ? 'begin' : 'details' };
  return { kind: 'details', bank: input.bank, personType: input.personType };
}
