export const ID_TYPES = ['CO_CC', 'CO_CE', 'CO_NIT', 'MXN_RFC', 'PASSPORT'] as const;

/** The payer of a payin or the receiver of a payout, as given by the merchant. Personal data: always stored encrypted. */
export interface Customer {
  readonly name: string;
  readonly idType: (typeof ID_TYPES)[number];
  readonly idNumber: string;
  readonly phone: string;
  readonly email: string;
}
