import type { CheckoutState, PagePayin } from '../../flows/payment-links/load-checkout.ts';
import type { Shop } from '../../organizations/shops.ts';
import { BANK_BY_CODE } from '../../rails/pse/banks.ts';
import type { Words } from './messages.ts';

export const DETAIL_FIELDS = ['name', 'idType', 'idNumber', 'phone', 'email', 'authorize'] as const;
export type WrongField = (typeof DETAIL_FIELDS)[number] | 'bank' | 'personType';

/** What a payer sent, and which of it we could not take. */
export interface Typed {
  readonly values: Readonly<Record<string, string>>;
  readonly wrong: readonly WrongField[];
}

export interface OfferedBank {
  readonly code: string;
  readonly name: string;
}

/** What a screen is drawn with. */
export interface Drawing {
  readonly words: Words;
  readonly shop: Shop;
  readonly state: CheckoutState;
  /** Of this page, without a question. */
  readonly path: string;
  readonly banks: readonly OfferedBank[];
  readonly typed: Typed | null;
  readonly receiptUrl: (attempt: PagePayin) => string;
  readonly qrNetwork: { readonly network: string; readonly networkId: string };
}

export function bankName(code: string): string {
  return BANK_BY_CODE.get(code)?.name ?? code;
}
