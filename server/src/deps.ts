import type { FailureLog } from './db/failure-log.ts';
import type { SnapshotDb } from './db/snapshot.ts';
import type { SystemDb } from './db/system.ts';
import type { BatchDb, ReadDb } from './db/tenant.ts';
import type { WorkSignals } from './jobs/work-signals.ts';
import type { BusinessClock } from './kit/clock.ts';
import type { SecretKey } from './kit/crypto.ts';
import type { Cursors } from './kit/cursor.ts';
import type { EncryptedTokens } from './kit/encrypted-token.ts';
import type { Environment } from './kit/environment.ts';
import type { Log } from './kit/log.ts';
import type { MasterKey } from './kit/master-key.ts';
import type { Metrics } from './kit/metrics.ts';
import type { Tracer } from './kit/tracer.ts';
import type { RailPauses } from './organizations/rail-pauses.ts';
import type { PayoutConnector, Rail, RailConnector } from './rails/contract.ts';
import type { ReceiptKeys } from './receipts/receipt-keys.ts';

/** Dependencies of flows on behalf of merchants. Without the system pool they cannot access other organizations. */
export interface Deps {
  readonly environment: Environment;
  readonly cell: number;
  readonly baseUrl: string;
  readonly checkoutUrl: string;
  readonly clock: BusinessClock;
  readonly log: Log;
  /** Logs failures of background operations that are retried until they succeed. */
  readonly failures: FailureLog;
  /** Wakes worker loops after a commit that created work for them. */
  readonly signals: WorkSignals;
  readonly metrics: Metrics;
  /** Creates spans of sampled requests and of what follows from them. */
  readonly tracer: Tracer;
  readonly read: ReadDb;
  readonly batch: BatchDb;
  readonly batchLanes: number;
  readonly rails: Readonly<Record<Rail, RailConnector>>;
  /** The rail that payouts are sent on. */
  readonly payoutRail: PayoutConnector;
  readonly railPauses: RailPauses;
  /** Holds all sending on a database that may be a restored one. */
  readonly sendingGuard: { readonly held: boolean };
  readonly brebKeyPrefix: string;
  /** Name of the account holder that bank apps show for our keys. */
  readonly brebReceiverName: string;
  readonly qrNetwork: { readonly network: string; readonly networkId: string };
  readonly cursors: Cursors;
  readonly checkoutTokens: EncryptedTokens;
  readonly linkTokens: EncryptedTokens;
  readonly receiptTokens: EncryptedTokens;
  /** Signs and verifies receipts. */
  readonly receiptKeys: ReceiptKeys;
  /** Whether webhooks may be sent to loopback addresses; never in production. */
  readonly webhooksAllowLoopback: boolean;
  /** Delay between the confirmation of a payin and the availability of its money. */
  readonly settlementDelayMinutes: number;
  /** How long the personal data of a payment that moved money must be kept. */
  readonly legalRetentionYears: number;
}

/** Dependencies of workers, operator commands and authentication. */
export interface SystemDeps extends Deps {
  readonly system: SystemDb;
  readonly snapshot: SnapshotDb;
  /** For the results of checks, which need no author: writable also in commands whose `system` is read-only. */
  readonly results: Pick<SystemDb, 'query'>;
  readonly masterKeys: readonly MasterKey[];
  readonly peppers: readonly SecretKey[];
}
