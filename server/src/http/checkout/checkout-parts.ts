import type { Deps } from '../../deps.ts';
import type { BankList } from '../../flows/payins/read-banks.ts';
import type { CollectionStarter } from '../../flows/payins/start-collection.ts';
import type { PaymentExpediter } from '../../flows/payment-links/expedite-payment.ts';
import type { CheckoutWatch } from '../../flows/payment-links/watch-checkouts.system.ts';
import type { Logos } from '../../organizations/logos.ts';
import type { Shops } from '../../organizations/shops.ts';
import type { OperatorIdentity } from './brand-types.ts';

/** What the payer pages use. */
export interface CheckoutParts {
  readonly deps: Deps;
  readonly shops: Shops;
  readonly logos: Logos;
  readonly collectionStarter: CollectionStarter;
  readonly expediter: PaymentExpediter;
  readonly watch: CheckoutWatch;
  readonly banks: BankList;
  /** Whether the deployment can send receipts by e-mail. */
  readonly sendsEmail: boolean;
  readonly operator: OperatorIdentity;
}
