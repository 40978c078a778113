/** What executes a failpoint, by the name of its transaction or rail call (the part before the colon). */
export type Executor = 'api' | 'worker' | 'api_unknown_commit' | CommandKind;
type CommandKind =
  | 'settlement'
  | 'subtotals'
  | 'bank-list'
  | 'deposit'
  | 'reversal'
  | 'resolve'
  | 'resolve_payout'
  | 'pause'
  | 'organization'
  | 'rewrap'
  | 'rotate'
  | 'data-keys'
  | 'hold'
  | 'erase';

export const EXECUTORS: Readonly<Record<string, Executor>> = {
  'create payins': 'api',
  'release unknown commits': 'api_unknown_commit',
  'record pages': 'api',
  'lease pages': 'worker',
  'lease keys': 'worker',
  'record keys': 'api',
  'store notices': 'api',
  'apply notices': 'worker',
  'lease unverified notices': 'worker',
  'apply verified notices': 'worker',
  'lease polls': 'worker',
  'apply statuses': 'worker',
  'create links': 'api',
  'open attempt': 'api',
  'attach payer': 'api',
  'expedite payment': 'api',
  'close link': 'api',
  'expire links': 'worker',
  'create payouts': 'api',
  'cancel payout': 'api',
  'take lookup': 'api',
  'record lookup': 'api',
  'commit attempts': 'worker',
  'record attempts': 'worker',
  'lease resolutions': 'worker',
  'refresh resolutions': 'worker',
  'lease payout polls': 'worker',
  'apply payout statuses': 'worker',
  'resolve payout': 'resolve_payout',
  'dispatch events': 'worker',
  'lease queues': 'worker',
  'record deliveries': 'worker',
  'manage endpoints': 'api',
  'record key networks': 'api',
  'replay events': 'api',
  settle: 'settlement',
  deposit: 'deposit',
  'reverse posting': 'reversal',
  'resolve anomaly': 'resolve',
  'accept anomaly': 'api',
  'post acceptances': 'worker',
  'issue receipt': 'api',
  'queue receipt email': 'api',
  'send receipt emails': 'worker',
  'pause rail': 'pause',
  'roll subtotals': 'subtotals',
  'refresh banks': 'bank-list',
  'manage organizations': 'organization',
  'issue token': 'api',
  'rewrap keys': 'rewrap',
  'rotate data keys': 'rotate',
  'reencrypt values': 'data-keys',
  'manage holds': 'hold',
  'erase personal data': 'erase',
  // Recorded before and after work that a command cannot do in one transaction.
  'record action': 'subtotals',
  'BRE_B open': 'api',
  'BRE_B queryStatus': 'worker',
  'BRE_B close': 'worker',
  'BRE_B pay': 'worker',
  'BRE_B queryOrders': 'worker',
  'BRE_B resolve': 'api',
  'PSE open': 'api',
  'PSE queryStatus': 'worker',
};

export function findExecutor(failpoint: string): Executor | null {
  return EXECUTORS[operationName(failpoint)] ?? null;
}

/** What the test must trigger so that a failpoint is reached in time; the load alone reaches the others. */
export type Trigger =
  | 'expiry'
  | 'bank_page'
  | 'key_registration'
  | 'cancellation'
  | 'lookup'
  | 'expired_resolution'
  | 'status_poll'
  | 'delivery'
  | 'endpoint'
  | 'new_network'
  | 'replay'
  | 'link'
  | 'attempt'
  | 'payer'
  | 'method_change'
  | 'link_close'
  | 'link_expiry'
  | 'receipt'
  | 'acceptance';

const TRIGGERS: Readonly<Record<string, Trigger>> = {
  'BRE_B close': 'expiry',
  'lease pages': 'bank_page',
  'lease keys': 'key_registration',
  'cancel payout': 'cancellation',
  'take lookup': 'lookup',
  'record lookup': 'lookup',
  'BRE_B resolve': 'lookup',
  'refresh resolutions': 'expired_resolution',
  'apply payout statuses': 'status_poll',
  'BRE_B queryOrders': 'status_poll',
  'record deliveries': 'delivery',
  'manage endpoints': 'endpoint',
  'record key networks': 'new_network',
  'replay events': 'replay',
  'create links': 'link',
  'open attempt': 'attempt',
  'attach payer': 'payer',
  'expedite payment': 'method_change',
  'close link': 'link_close',
  'expire links': 'link_expiry',
  'issue receipt': 'receipt',
  'queue receipt email': 'receipt',
  'send receipt emails': 'receipt',
  'accept anomaly': 'acceptance',
  'post acceptances': 'acceptance',
};

export function findTrigger(failpoint: string): Trigger | null {
  return TRIGGERS[operationName(failpoint)] ?? null;
}

/** The name of its transaction or rail call. */
function operationName(failpoint: string): string {
  return failpoint.split(':')[0] ?? '';
}

/**
 * How many passes to choose from. Worker loops pass some failpoints often under load, so the process dies at a random one
 * of several passes.
 */
export function maxPasses(failpoint: string): number {
  if (findTrigger(failpoint) !== null) return 1;
  return /^(?:lease |commit attempts|dispatch events)/.test(failpoint) ? 10 : 2;
}
