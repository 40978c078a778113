import type { CheckoutState, PagePayin } from '../../flows/payment-links/load-checkout.ts';
import type { Shop } from '../../organizations/shops.ts';
import type { Rail } from '../../rails/contract.ts';
import { BANK_BY_CODE } from '../../rails/pse/banks.ts';
import type { Messages } from './messages.ts';
import type { ExcludedRail } from './offered-rails.ts';

export const DETAIL_FIELDS = ['name', 'idType', 'idNumber', 'phone', 'email', 'authorize'] as const;
export type InvalidField = (typeof DETAIL_FIELDS)[number];

/** The values of the payer's form: submitted now, or known from an earlier attempt of this browser. */
export interface PayerForm {
  readonly values: Readonly<Record<string, string>>;
  readonly invalidFields: readonly InvalidField[];
}

/** Id of the form on the bank and details screens: the language switch submits it too, so that nothing is typed twice. */
export const PAYER_FORM_ID = 'payer-form';

export interface OfferedBank {
  readonly code: string;
  readonly name: string;
}

/** Input for rendering a screen. */
export interface RenderContext {
  readonly messages: Messages;
  readonly shop: Shop;
  readonly state: CheckoutState;
  /** Path of this page, without query. */
  readonly path: string;
  readonly banks: readonly OfferedBank[];
  readonly form: PayerForm;
  /** The methods that can take this payment now, and those of the shop that cannot. */
  readonly offeredRails: readonly Rail[];
  readonly excludedRails: readonly ExcludedRail[];
  readonly receiptUrl: (attempt: PagePayin) => string;
  /** Whether receipts can be sent by e-mail. */
  readonly sendsEmail: boolean;
  readonly qrNetwork: { readonly network: string; readonly networkId: string };
  /** Name of the account holder that bank apps show for our keys. */
  readonly brebReceiverName: string;
}

export function bankName(code: string): string {
  return BANK_BY_CODE.get(code)?.name ?? code;
}
