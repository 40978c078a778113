/** Who passes a failpoint, by the name of its transaction or call (what stands before the colon). */
export type Passer = 'api' | 'worker' | 'uncertain api' | Errand;
type Errand =
  | 'settlement'
  | 'subtotals'
  | 'bank-list'
  | 'deposit'
  | 'reversal'
  | 'resolve'
  | 'resolve payout'
  | 'pause'
  | 'organization'
  | 'rewrap';

export const PASSERS: Readonly<Record<string, Passer>> = {
  'create payins': 'api',
  'release unknown commits': 'uncertain api',
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
  'resolve payout': 'resolve payout',
  'dispatch events': 'worker',
  'lease queues': 'worker',
  'record deliveries': 'worker',
  'manage endpoints': 'api',
  'replay events': 'api',
  settle: 'settlement',
  deposit: 'deposit',
  'reverse posting': 'reversal',
  'resolve anomaly': 'resolve',
  'accept anomaly': 'api',
  'post acceptances': 'worker',
  'pause rail': 'pause',
  'roll subtotals': 'subtotals',
  'refresh banks': 'bank-list',
  'manage organizations': 'organization',
  'issue token': 'api',
  'rewrap keys': 'rewrap',
  // Written before and after what a command cannot do in one transaction.
  'record action': 'subtotals',
  'BRE_B open': 'api',
  'BRE_B ask': 'worker',
  'BRE_B close': 'worker',
  'BRE_B pay': 'worker',
  'BRE_B queryOrders': 'worker',
  'BRE_B resolve': 'api',
  'PSE open': 'api',
  'PSE ask': 'worker',
};

export function passerOf(failpoint: string): Passer | null {
  return PASSERS[placeOf(failpoint)] ?? null;
}

/** What has to be brought about for a failpoint to be passed in time; the load alone brings the others about. */
export type Occasion =
  | 'expiry'
  | 'bank page'
  | 'key registration'
  | 'cancellation'
  | 'lookup'
  | 'old promise'
  | 'question'
  | 'delivery'
  | 'endpoint'
  | 'replay'
  | 'link'
  | 'attempt'
  | 'payer'
  | 'change of method'
  | 'closing'
  | 'link expiry'
  | 'acceptance';

const OCCASIONS: Readonly<Record<string, Occasion>> = {
  'BRE_B close': 'expiry',
  'lease pages': 'bank page',
  'lease keys': 'key registration',
  'cancel payout': 'cancellation',
  'take lookup': 'lookup',
  'record lookup': 'lookup',
  'BRE_B resolve': 'lookup',
  'refresh resolutions': 'old promise',
  'apply payout statuses': 'question',
  'BRE_B queryOrders': 'question',
  'record deliveries': 'delivery',
  'manage endpoints': 'endpoint',
  'replay events': 'replay',
  'create links': 'link',
  'open attempt': 'attempt',
  'attach payer': 'payer',
  'expedite payment': 'change of method',
  'close link': 'closing',
  'expire links': 'link expiry',
  'accept anomaly': 'acceptance',
  'post acceptances': 'acceptance',
};

export function occasionOf(failpoint: string): Occasion | null {
  return OCCASIONS[placeOf(failpoint)] ?? null;
}

/** Its transaction or call. */
function placeOf(failpoint: string): string {
  return failpoint.split(':')[0] ?? '';
}

/** Loops pass these whenever work is due, which under load is often: the passing is chosen out of several. */
export function passings(failpoint: string): number {
  if (occasionOf(failpoint) !== null) return 1;
  return /^(?:claim |commit attempts|dispatch events)/.test(failpoint) ? 10 : 2;
}
