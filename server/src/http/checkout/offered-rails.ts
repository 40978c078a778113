import type { CheckoutState } from '../../flows/payment-links/load-checkout.ts';
import { RAILS, type Rail } from '../../rails/contract.ts';
import type { CheckoutParts } from './checkout-parts.ts';

/** A rail of the shop that cannot take this payment now, and why. */
export type ExcludedRail = { readonly rail: Rail } /** Paused by an operator, or failing now. */ & (
  | { readonly reason: 'unavailable' }
  | { readonly reason: 'below_minimum' | 'above_maximum'; readonly limit: bigint }
);

export interface RailOffer {
  readonly offered: readonly Rail[];
  readonly excluded: readonly ExcludedRail[];
}

/**
 * The rails that can take a payment: enabled for the shop, allowed by the link, able to carry what is missing to its amount,
 * not paused and not failing.
 */
export function offerRails(
  { deps, collectionStarter }: Pick<CheckoutParts, 'deps' | 'collectionStarter'>,
  { link, attempt, shop }: CheckoutState,
): RailOffer {
  const [amount, only] = link
    ? [link.amount - link.paid, link.rail]
    : [attempt.payin.amount, attempt.payin.source.rail];
  const allowed = RAILS.filter((rail) => shop.organization.rails.has(rail) && (only ?? rail) === rail);
  const excluded = allowed.flatMap((rail): ExcludedRail[] => {
    const { minAmount, maxAmount } = deps.rails[rail].capabilities;
    if (amount < minAmount) return [{ rail, reason: 'below_minimum', limit: minAmount }];
    if (amount > maxAmount) return [{ rail, reason: 'above_maximum', limit: maxAmount }];
    const isUnavailable =
      deps.railPauses.paused(rail, shop.organization.id) || collectionStarter.isDown(rail);
    return isUnavailable ? [{ rail, reason: 'unavailable' }] : [];
  });
  const offered = allowed.filter((rail) => !excluded.some((each) => each.rail === rail));
  return { offered, excluded };
}
