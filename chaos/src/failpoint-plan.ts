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
  'release uncertain': 'uncertain api',
  'record pages': 'api',
  'claim pages': 'worker',
  'claim keys': 'worker',
  'record keys': 'api',
  'store notices': 'api',
  'apply notices': 'worker',
  'claim doubtful notices': 'worker',
  'apply checked notices': 'worker',
  'claim questions': 'worker',
  'apply answers': 'worker',
  'create links': 'api',
  'open attempt': 'api',
  'take payer': 'api',
  'hasten payment': 'api',
  'close link': 'api',
  'expire links': 'worker',
  'create payouts': 'api',
  'cancel payout': 'api',
  'take lookup': 'api',
  'record lookup': 'api',
  'commit attempts': 'worker',
  'record attempts': 'worker',
  'claim promises': 'worker',
  'renew promises': 'worker',
  'claim payout questions': 'worker',
  'apply payout answers': 'worker',
  'resolve payout': 'resolve payout',
  'dispatch events': 'worker',
  'claim lines': 'worker',
  'record deliveries': 'worker',
  'manage endpoints': 'api',
  'replay events': 'api',
  settle: 'settlement',
  deposit: 'deposit',
  'reverse booking': 'reversal',
  'resolve anomaly': 'resolve',
  'accept anomaly': 'api',
  'book acceptances': 'worker',
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
  'BRE_B askOrders': 'worker',
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
  'claim pages': 'bank page',
  'claim keys': 'key registration',
  'cancel payout': 'cancellation',
  'take lookup': 'lookup',
  'record lookup': 'lookup',
  'BRE_B resolve': 'lookup',
  'renew promises': 'old promise',
  'apply payout answers': 'question',
  'BRE_B askOrders': 'question',
  'record deliveries': 'delivery',
  'manage endpoints': 'endpoint',
  'replay events': 'replay',
  'create links': 'link',
  'open attempt': 'attempt',
  'take payer': 'payer',
  'hasten payment': 'change of method',
  'close link': 'closing',
  'expire links': 'link expiry',
  'accept anomaly': 'acceptance',
  'book acceptances': 'acceptance',
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
