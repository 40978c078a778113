import type { Deps } from '../deps.ts';
import type { EventStreams } from '../flows/follow-events.ts';
import type { IssuedToken } from '../flows/issue-token.ts';
import type { LinkCreator } from '../flows/link-creator.ts';
import type { KeyLookups } from '../flows/look-up-key.ts';
import type { PayinCreator } from '../flows/payin-creator.ts';
import type { PayoutCreator } from '../flows/payout-creator.ts';
import type { BankList } from '../flows/read-banks.ts';
import type { NoticeIntake } from '../flows/store-notices.ts';
import type { Authority } from '../organizations/authority.ts';
import type { Principal } from '../organizations/organization.ts';
import type { CheckoutParts } from './checkout/checkout.routes.ts';
import type { Gate } from './gate.ts';
import type { NoticeDoor } from './rail-notices/rail-notices.route.ts';

/** What the API is built from. Nothing in it reaches another organization's data. */
export interface ApiDeps extends Deps {
  readonly operatorName: string;
  readonly trustedProxies: readonly string[];
  readonly noticeDoors: readonly NoticeDoor[];
  readonly notices: NoticeIntake;
  readonly authority: Authority;
  readonly gate: Gate;
  readonly payins: PayinCreator;
  readonly payouts: PayoutCreator;
  readonly links: LinkCreator;
  readonly lookups: KeyLookups;
  readonly banks: BankList;
  readonly streams: EventStreams;
  readonly checkout: Omit<CheckoutParts, 'deps' | 'banks' | 'operator'>;
  readonly issueToken: (principal: Principal, scopes: readonly string[]) => Promise<IssuedToken>;
}
