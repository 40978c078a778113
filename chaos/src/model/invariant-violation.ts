/** What Caudal promises, each by the name under which a run tells that it was broken. */
export const PROMISES = {
  onePayin: 'one request makes one payin',
  answers: 'answers agree with the rows',
  absorbs: 'a final state absorbs',
  history: 'the history leads to the present state',
  events: 'one event for each final state, none for others',
  causes: 'every transfer has its cause, and every cause its transfer',
  balances: 'balances equal their transfers',
  settled: 'what is available or pending is what came, less what went out and what is held',
  verified: 'money settles only after the rail, queried, listed its payment',
  booked: 'the books say what the rail says',
  bookedOnce: 'an execution is booked once',
  confirms: 'one execution confirms a payin; the others are in suspense',
  suspense: 'money in suspense has its anomaly',
  detectedAnomalies: 'anomalies tell what was odd, and nothing else',
  accepts: 'accepted money is credited once, and no other leaves suspense',
  railEnds: 'only the word of the rail ends a payin without money',
  closedFirst: 'a payin expires when the rail has closed it unpaid',
  stored: 'an acknowledged notice is stored',
  heard: 'what was heard is applied',
  ends: 'nothing stays open beyond its time',
  rest: 'work comes to rest',
  onePayout: 'one request makes one payout',
  sentOnce: 'a payout is executed at most once',
  sentAs: 'an order is what was asked for, under one end-to-end id for ever',
  committedFirst: 'an order leaves when its attempt is committed',
  patience: 'an order is sent again when the rail has none and nothing can be under way',
  outcome: 'a payout is confirmed by its execution',
  unsent: 'a canceled payout was never sent',
  clearNo: 'only a clear no declines a payout: unknown is not no',
  receiver: 'money is sent to whom was looked up',
  covered: 'what the balance covers is set aside, and nothing else',
  held: 'held equals the payouts under way',
  payoutMoney: 'the books tell of a payout what became of it',
} as const;

export type InvariantName = keyof typeof PROMISES;

export interface Breach {
  readonly promise: InvariantName;
  /** The row, or what else shows it. */
  readonly about: unknown;
}

export class InvariantViolation extends Error {
  readonly promise: InvariantName;

  constructor({ promise, about }: Breach) {
    super(`${PROMISES[promise]}: ${typeof about === 'string' ? about : JSON.stringify(about, asText)}`);
    this.name = 'InvariantViolation';
    this.promise = promise;
  }
}

function asText(_name: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
