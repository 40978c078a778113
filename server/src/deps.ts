import type { SystemDb } from './db/system.ts';
import type { BatchDb, ReadDb } from './db/tenant.ts';
import type { BusinessClock } from './kit/clock.ts';
import type { SecretKey } from './kit/crypto.ts';
import type { Cursors } from './kit/cursor.ts';
import type { Environment } from './kit/environment.ts';
import type { Log } from './kit/log.ts';
import type { Metrics } from './kit/metrics.ts';
import type { SealedTokens } from './kit/sealed-token.ts';
import type { Rail, RailConnector } from './rails/contract.ts';

/** What a flow on behalf of merchants receives. It cannot see other organizations: there is no system pool in it. */
export interface Deps {
  readonly environment: Environment;
  readonly cell: number;
  readonly baseUrl: string;
  readonly checkoutUrl: string;
  readonly clock: BusinessClock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly read: ReadDb;
  readonly batch: BatchDb;
  readonly batchLanes: number;
  readonly rails: Readonly<Record<Rail, RailConnector>>;
  readonly brebKeyPrefix: string;
  readonly qrNetwork: { readonly network: string; readonly networkId: string };
  readonly cursors: Cursors;
  readonly checkoutTokens: SealedTokens;
}

/** What workers, operators and authentication receive. */
export interface SystemDeps extends Deps {
  readonly system: SystemDb;
  readonly masterKeys: readonly SecretKey[];
  readonly peppers: readonly SecretKey[];
}
