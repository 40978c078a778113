/** What the payouts of one scope may sum up to. Null: no such limit. Zero: nothing may be paid. Days are days in Bogotá. */
export interface PayoutLimits {
  readonly dayAmount: bigint | null;
  readonly dayCount: number | null;
  readonly receiverDayAmount: bigint | null;
  readonly receiverDayCount: number | null;
  /** How long a payout waits whose receiver the organization has never paid before. */
  readonly newReceiverHoldSeconds: number | null;
}

export const NO_LIMITS: PayoutLimits = {
  dayAmount: null,
  dayCount: null,
  receiverDayAmount: null,
  receiverDayCount: null,
  newReceiverHoldSeconds: null,
};

/** Payouts that are not declined or canceled. */
export interface Usage {
  readonly payouts: number;
  readonly amount: bigint;
}

/** A scope is an organization, or one of its API keys. */
export interface LimitScope {
  readonly organizationId: string;
  /** Empty: the organization as a whole. */
  readonly apiKeyId: string;
}

/** The limits of a scope and its usage today. */
export interface LimitsWithUsage extends LimitScope, PayoutLimits, Usage {}

/** A payout that asks to be counted. */
export interface LimitedPayout {
  readonly organizationId: string;
  readonly apiKeyId: string;
  readonly receiverIndex: Buffer;
  readonly amount: bigint;
}

/** What one API key paid to one receiver today; the key is null for payouts of earlier versions. */
export interface ReceiverUsage extends Usage {
  readonly organizationId: string;
  readonly receiverIndex: Buffer;
  readonly apiKeyId: string | null;
}

const NOTHING: Usage = { payouts: 0, amount: 0n };

/** Counts the payouts of one batch against the limits of their organizations and API keys, in order. */
export class LimitCheck {
  readonly #scopes: ReadonlyMap<string, Scope>;

  constructor(limits: readonly LimitsWithUsage[]) {
    this.#scopes = new Map(limits.map((each) => [scopeName(each), new Scope(each)]));
  }

  /** Whether some limit needs to know what the receiver was paid today. */
  limitsReceiver(payout: LimitedPayout): boolean {
    return this.#of(payout).some(
      ({ limits }) => limits.receiverDayAmount !== null || limits.receiverDayCount !== null,
    );
  }

  /** How long the payout waits if its receiver is new; null: not at all. The longest hold applies. */
  holdSeconds(payout: LimitedPayout): number | null {
    const holds = this.#of(payout).flatMap(({ limits }) => limits.newReceiverHoldSeconds ?? []);
    return holds.length === 0 ? null : Math.max(...holds);
  }

  /** Adds what receivers were paid before this batch. */
  addReceivers(receivers: readonly ReceiverUsage[]): void {
    for (const { organizationId, apiKeyId, receiverIndex, ...usage } of receivers) {
      this.#scopes.get(scopeName({ organizationId, apiKeyId: '' }))?.addReceiver(receiverIndex, usage);
      if (apiKeyId !== null)
        this.#scopes.get(scopeName({ organizationId, apiKeyId }))?.addReceiver(receiverIndex, usage);
    }
  }

  allows(payout: LimitedPayout): boolean {
    return this.#of(payout).every((scope) => scope.allows(payout));
  }

  count(payout: LimitedPayout): void {
    for (const scope of this.#of(payout)) scope.count(payout);
  }

  /** The usage that this batch adds. */
  added(): (LimitScope & Usage)[] {
    return [...this.#scopes.values()].filter(({ added }) => added.payouts > 0).map(({ added }) => added);
  }

  #of({ organizationId, apiKeyId }: LimitedPayout): Scope[] {
    const names = [scopeName({ organizationId, apiKeyId: '' }), scopeName({ organizationId, apiKeyId })];
    return names.flatMap((name) => this.#scopes.get(name) ?? []);
  }
}

class Scope {
  readonly limits: LimitsWithUsage;
  readonly #receivers = new Map<string, Usage>();
  #added = NOTHING;

  constructor(limits: LimitsWithUsage) {
    this.limits = limits;
  }

  get added(): LimitScope & Usage {
    const { organizationId, apiKeyId } = this.limits;
    return { organizationId, apiKeyId, ...this.#added };
  }

  addReceiver(receiverIndex: Buffer, usage: Usage): void {
    const name = receiverIndex.toString('hex');
    this.#receivers.set(name, sum(this.#receivers.get(name) ?? NOTHING, usage));
  }

  allows({ receiverIndex, amount }: LimitedPayout): boolean {
    const { dayAmount, dayCount, receiverDayAmount, receiverDayCount } = this.limits;
    const one = { payouts: 1, amount };
    const day = sum(sum(this.limits, this.#added), one);
    const receiver = sum(this.#receivers.get(receiverIndex.toString('hex')) ?? NOTHING, one);
    return isWithin(day, dayAmount, dayCount) && isWithin(receiver, receiverDayAmount, receiverDayCount);
  }

  count({ receiverIndex, amount }: LimitedPayout): void {
    const one = { payouts: 1, amount };
    this.#added = sum(this.#added, one);
    this.addReceiver(receiverIndex, one);
  }
}

function scopeName({ organizationId, apiKeyId }: LimitScope): string {
  return `${organizationId}/${apiKeyId}`;
}

function sum(a: Usage, b: Usage): Usage {
  return { payouts: a.payouts + b.payouts, amount: a.amount + b.amount };
}

function isWithin({ payouts, amount }: Usage, maxAmount: bigint | null, maxCount: number | null): boolean {
  return (maxAmount === null || amount <= maxAmount) && (maxCount === null || payouts <= maxCount);
}
