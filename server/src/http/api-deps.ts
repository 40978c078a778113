import type { Deps } from '../deps.ts';
import type { IssuedToken } from '../flows/issue-token.ts';
import type { PayinCreator } from '../flows/payin-creator.ts';
import type { Authority } from '../organizations/authority.ts';
import type { Principal } from '../organizations/organization.ts';

/** What the API is built from. Nothing in it reaches another organization's data. */
export interface ApiDeps extends Deps {
  readonly authority: Authority;
  readonly payins: PayinCreator;
  readonly issueToken: (principal: Principal, scopes: readonly string[]) => Promise<IssuedToken>;
}
