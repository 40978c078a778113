import type { Rail } from './rail.ts';

/** `nth` is an index into the links of the history, modulo their number; -1 is the last. */
export type LinkAction =
  /** `hasCustomer`: the merchant sends the payer's details, which PSE needs; otherwise the payer enters them. */
  | {
      readonly do: 'create_link';
      readonly cents: number;
      readonly hasCustomer: boolean;
      readonly api: 0 | 1;
    }
  | { readonly do: 'start_attempt'; readonly nth: number; readonly rail: Rail; readonly api: 0 | 1 }
  /** Two concurrent attempts, one on each API. */
  | { readonly do: 'concurrent_attempts'; readonly nth: number; readonly rails: readonly [Rail, Rail] }
  /** The payer changes the payment method, which closes the payer's own key. */
  | { readonly do: 'change_method'; readonly nth: number; readonly api: 0 | 1 }
  /** Pays an attempt of the link like `pay`. `back`: 0 is its last attempt, 1 the one before. */
  | {
      readonly do: 'pay_attempt';
      readonly nth: number;
      readonly back: number;
      readonly share: 'full' | 'less' | 'more';
      readonly times: 1 | 2;
      readonly anyway: boolean;
    }
  /** Pays the last two attempts like `contend`. */
  | { readonly do: 'pay_two_attempts'; readonly nth: number }
  /** `both`: concurrently on both APIs. */
  | { readonly do: 'close_link'; readonly nth: number; readonly both: boolean }
  | { readonly do: 'read_link'; readonly nth: number };
