/** Every transaction that writes, by name: what failpoints, and whoever reads about a failure, call it. */
export const TRANSACTIONS = [
  'create payins',
  'release uncertain',
  'record pages',
  'claim pages',
  'claim keys',
  'record keys',
  'store notices',
  'apply notices',
  'claim doubtful notices',
  'apply checked notices',
  'claim questions',
  'apply answers',
  'create links',
  'open attempt',
  'take payer',
  'hasten payment',
  'close link',
  'expire links',
  'create payouts',
  'cancel payout',
  'commit attempts',
  'record attempts',
  'claim promises',
  'renew promises',
  'claim payout questions',
  'apply payout answers',
  'resolve payout',
  'take lookup',
  'record lookup',
  'dispatch events',
  'claim lines',
  'record deliveries',
  'manage endpoints',
  'replay events',
  'settle',
  'deposit',
  'resolve anomaly',
  'pause rail',
  'roll subtotals',
  'refresh banks',
  'manage organizations',
  'issue token',
  'rewrap keys',
  'read',
] as const;

export type TransactionName = (typeof TRANSACTIONS)[number];

/** The two sides of a commit: before it nothing has happened, after it everything has and nobody has been told. */
export function commitFailpoints(name: TransactionName): { readonly before: string; readonly after: string } {
  return { before: `${name}: before commit`, after: `${name}: after commit` };
}
