import type { CheckoutState, PagePayin } from '../../flows/payment-links/load-checkout.ts';
import type { Shop } from '../../organizations/shops.ts';
import { BANK_BY_CODE } from '../../rails/pse/banks.ts';
import type { Messages } from './messages.ts';

export const DETAIL_FIELDS = ['name', 'idType', 'idNumber', 'phone', 'email', 'authorize'] as const;
export type InvalidField = (typeof DETAIL_FIELDS)[number] | 'bank' | 'personType';

/** A submitted form that failed validation. */
export interface SubmittedForm {
  readonly values: Readonly<Record<string, string>>;
  readonly invalidFields: readonly InvalidField[];
}

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
  readonly submitted: SubmittedForm | null;
  readonly receiptUrl: (attempt: PagePayin) => string;
  readonly qrNetwork: { readonly network: string; readonly networkId: string };
}

export function bankName(code: string): string {
  return BANK_BY_CODE.get(code)?.name ?? code;
}
