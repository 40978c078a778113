/** Who passes a failpoint, by the name of its transaction or call (what stands before the colon). */
export type Passer = 'api' | 'worker' | 'uncertain api' | Errand;
type Errand =
  | 'settlement'
  | 'subtotals'
  | 'bank-list'
  | 'deposit'
  | 'resolve'
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
  settle: 'settlement',
  deposit: 'deposit',
  'resolve anomaly': 'resolve',
  'pause rail': 'pause',
  'roll subtotals': 'subtotals',
  'refresh banks': 'bank-list',
  'manage organizations': 'organization',
  'issue token': 'api',
  'rewrap keys': 'rewrap',
  'BRE_B open': 'api',
  'BRE_B ask': 'worker',
  'BRE_B close': 'worker',
  'PSE open': 'api',
  'PSE ask': 'worker',
};

export function passerOf(failpoint: string): Passer | null {
  return PASSERS[failpoint.split(':')[0] ?? ''] ?? null;
}

/** Loops pass these every few milliseconds, mostly with nothing in hand: the passing is chosen out of many. */
export function passings(failpoint: string): number {
  if (failpoint.startsWith('claim ')) return 60;
  return failpoint.includes(' close: ') ? 1 : 2;
}
