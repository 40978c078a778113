import type { Deps } from '../deps.ts';
import type { PayinCreator } from '../flows/payins/payin-creator.ts';
import type { BankList } from '../flows/payins/read-banks.ts';
import type { linkCreator } from '../flows/payment-links/create-links.ts';
import type { payoutCreator } from '../flows/payouts/create-payouts.ts';
import type { KeyLookups } from '../flows/payouts/look-up-key.ts';
import type { ReceiptFinder } from '../flows/receipts/find-receipt.system.ts';
import type { IssuedToken } from '../flows/shared/issue-token.system.ts';
import type { NoticeIntake } from '../flows/shared/store-notices.system.ts';
import type { EventStreams } from '../flows/webhooks/follow-events.ts';
import type { Authenticator } from '../organizations/authenticator.ts';
import type { KeyNetworks } from '../organizations/key-networks.ts';
import type { Principal } from '../organizations/organization.ts';

import type { OperatorIdentity } from './checkout/brand-types.ts';
import type { CheckoutParts } from './checkout/checkout-parts.ts';
import type { Gate } from './gate.ts';
import type { InvalidCredentials } from './invalid-credentials.ts';
import type { NoticeEndpoint } from './rail-notices/rail-notices.route.ts';

/** Dependencies of the API. None of them exposes another organization's data. */
export interface ApiDeps extends Deps {
  readonly operator: OperatorIdentity;
  readonly trustedProxies: readonly string[];
  /** The form of a client address in the log; null for a text that is no IP address. */
  readonly formatAddress: (address: string) => string | null;
  readonly noticeEndpoints: readonly NoticeEndpoint[];
  readonly notices: NoticeIntake;
  readonly authenticator: Authenticator;
  readonly keyNetworks: KeyNetworks;
  readonly gate: Gate;
  readonly invalidCredentials: InvalidCredentials;
  readonly payins: PayinCreator;
  readonly payouts: ReturnType<typeof payoutCreator>;
  readonly links: ReturnType<typeof linkCreator>;
  readonly lookups: KeyLookups;
  readonly banks: BankList;
  readonly streams: EventStreams;
  readonly checkout: Omit<CheckoutParts, 'deps' | 'banks' | 'operator'>;
  readonly receiptFinder: ReceiptFinder;
  readonly issueToken: (principal: Principal, scopes: readonly string[]) => Promise<IssuedToken>;
}
