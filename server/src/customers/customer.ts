export const ID_TYPES = ['CO_CC', 'CO_CE', 'CO_NIT', 'MXN_RFC', 'PASSPORT'] as const;

/** Who pays a payin, or is paid by a payout, as the merchant knows them. Personal data: sealed wherever it is kept. */
export interface Customer {
  readonly name: string;
  readonly idType: (typeof ID_TYPES)[number];
  readonly idNumber: string;
  readonly phone: string;
  readonly email: string;
}
