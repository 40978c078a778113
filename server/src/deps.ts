import type { FailureLog } from './db/failure-log.ts';
import type { SnapshotDb } from './db/snapshot.ts';
import type { SystemDb } from './db/system.ts';
import type { BatchDb, ReadDb } from './db/tenant.ts';
import type { WorkSignals } from './jobs/work-signals.ts';
import type { BusinessClock } from './kit/clock.ts';
import type { SecretKey } from './kit/crypto.ts';
import type { Cursors } from './kit/cursor.ts';
import type { Environment } from './kit/environment.ts';
import type { Log } from './kit/log.ts';
import type { Metrics } from './kit/metrics.ts';
import type { SealedTokens } from './kit/sealed-token.ts';
import type { RailPauses } from './organizations/rail-pauses.ts';
import type { PayoutConnector, Rail, RailConnector } from './rails/contract.ts';

/** What a flow on behalf of merchants receives. It cannot see other organizations: there is no system pool in it. */
export interface Deps {
  readonly environment: Environment;
  readonly cell: number;
  readonly baseUrl: string;
  readonly checkoutUrl: string;
  readonly clock: BusinessClock;
  readonly log: Log;
  /** For background operations that are retried until they succeed. */
  readonly failures: FailureLog;
  /** Wakes the loops of workers, after a commit that left work for them. */
  readonly signals: WorkSignals;
  readonly metrics: Metrics;
  readonly read: ReadDb;
  readonly batch: BatchDb;
  readonly batchLanes: number;
  readonly rails: Readonly<Record<Rail, RailConnector>>;
  /** The rail on which money is sent. */
  readonly payoutRail: PayoutConnector;
  readonly railPauses: RailPauses;
  readonly brebKeyPrefix: string;
  readonly qrNetwork: { readonly network: string; readonly networkId: string };
  readonly cursors: Cursors;
  readonly checkoutTokens: SealedTokens;
  readonly linkTokens: SealedTokens;
  readonly receiptTokens: SealedTokens;
  /** Whether webhooks may go to this machine: never in production. */
  readonly webhooksToLoopback: boolean;
  /** Between a payin's confirmation and its money being available. */
  readonly settlementDelayMinutes: number;
}

/** What workers, operators and authentication receive. */
export interface SystemDeps extends Deps {
  readonly system: SystemDb;
  readonly snapshot: SnapshotDb;
  readonly masterKeys: readonly SecretKey[];
  readonly peppers: readonly SecretKey[];
}
