import type { Shop } from '../../organizations/shops.ts';
import type { SafeHtml } from '../html.ts';

/** The operator of this deployment as payers see it. */
export interface OperatorIdentity {
  readonly name: string;
  readonly legalName: string | null;
  readonly taxId: string | null;
  /** Contact for payers, in the form of a shop's support contact. */
  readonly support: string | null;
  readonly termsUrl: string | null;
  readonly privacyUrl: string | null;
}

/** The parts of a page that identify the shop and the charge. */
export interface BrandPage {
  readonly title: string;
  readonly shop: Shop | null;
  readonly amount: bigint | null;
  readonly reference: string | null;
  readonly description: string | null;
  readonly authenticity?: SafeHtml | null;
  /** Null if the status cannot change any more. */
  readonly live: object | null;
}

export interface BrandFrame {
  readonly operator: OperatorIdentity;
  /** Public base URL of the checkout pages. */
  readonly checkoutUrl: string;
}
