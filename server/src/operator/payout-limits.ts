import type { SystemDeps } from '../deps.ts';
import {
  changePayoutLimits,
  type LimitsWithUsage,
  type PayoutLimits,
  readPayoutLimits,
} from '../flows/payouts/change-payout-limits.system.ts';
import { decimalPesos } from '../kit/money.ts';
import { counted } from './finding.ts';
import { type Options, type Output, UsageError } from './options.ts';
import { readOrganizationId } from './organizations.ts';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const MAX_HOLD_SECONDS = 30 * SECONDS.d;

/** Shows the payout limits with today's usage; with options, sets them. */
export async function orgPayoutLimits(deps: SystemDeps, options: Options): Promise<Output> {
  const organizationId = readOrganizationId(options);
  const apiKeyId = options.matching(
    'key',
    /^[0-9A-HJKMNP-TV-Z]{16}$/,
    'the id of an API key (see keys list)',
    '',
  );
  const scope = { organizationId, apiKeyId };
  const limits = options.changes
    ? await changePayoutLimits(deps, options.by, scope, readChanges(options))
    : await readPayoutLimits(deps, scope);
  if (!limits) throw new Error('there is no such organization or API key (see org list, keys list)');
  const shown = limits.filter((each) => apiKeyId === '' || each.apiKeyId === apiKeyId);
  return {
    json: { organizationId, limits: shown.map(toJson) },
    text: shown.map(toText).join('\n\n') || 'No payout limits.',
  };
}

function readChanges(options: Options): Partial<PayoutLimits> {
  return {
    ...readLimit(options, 'per-day-amount', 'dayAmount', AMOUNT),
    ...readLimit(options, 'per-day-count', 'dayCount', COUNT),
    ...readLimit(options, 'receiver-day-amount', 'receiverDayAmount', AMOUNT),
    ...readLimit(options, 'receiver-day-count', 'receiverDayCount', COUNT),
    ...readLimit(options, 'new-receiver-hold', 'newReceiverHoldSeconds', HOLD),
  };
}

interface Kind<Value> {
  readonly pattern: RegExp;
  readonly description: string;
  readonly parse: (text: string) => Value;
}

const AMOUNT: Kind<bigint> = {
  pattern: /^(?:none|\d{1,13}(?:\.\d{2})?)$/,
  description: 'pesos such as 5000000 or 5000000.50, or "none"',
  parse: (text) => {
    const [whole = '', decimals = '00'] = text.split('.');
    return BigInt(whole + decimals);
  },
};

const COUNT: Kind<number> = {
  pattern: /^(?:none|\d{1,9})$/,
  description: 'a number of payouts, or "none"',
  parse: Number,
};

const HOLD: Kind<number> = {
  pattern: /^(?:none|[1-9]\d{0,6}[smhd])$/,
  description: 'a time such as 30m, 24h or 2d, at most 30d, or "none"',
  parse: (text) => {
    const seconds = Number(text.slice(0, -1)) * SECONDS[text.slice(-1) as keyof typeof SECONDS];
    if (seconds > MAX_HOLD_SECONDS) throw new UsageError('--new-receiver-hold must be at most 30d');
    return seconds;
  },
};

function readLimit<Value>(
  options: Options,
  option: string,
  field: keyof PayoutLimits,
  { pattern, description, parse }: Kind<Value>,
): Partial<PayoutLimits> {
  const text = options.matching(option, pattern, description, '');
  return text === '' ? {} : { [field]: text === 'none' ? null : parse(text) };
}

function toJson(limits: LimitsWithUsage) {
  return {
    apiKeyId: limits.apiKeyId || null,
    perDayAmountInCents: toNumber(limits.dayAmount),
    perDayCount: limits.dayCount,
    receiverDayAmountInCents: toNumber(limits.receiverDayAmount),
    receiverDayCount: limits.receiverDayCount,
    newReceiverHoldSeconds: limits.newReceiverHoldSeconds,
    today: { amountInCents: Number(limits.amount), count: limits.payouts },
  };
}

function toNumber(amount: bigint | null): number | null {
  return amount === null ? null : Number(amount);
}

function toText(limits: LimitsWithUsage): string {
  return [
    limits.apiKeyId === '' ? 'Organization' : `API key ${limits.apiKeyId}`,
    `  per day                 ${pesosText(limits.dayAmount)}, ${countText(limits.dayCount)}`,
    `  per receiver and day    ${pesosText(limits.receiverDayAmount)}, ${countText(limits.receiverDayCount)}`,
    `  new receivers wait      ${holdText(limits.newReceiverHoldSeconds)}`,
    `  today (Bogotá)          COP ${decimalPesos(limits.amount)}, ${counted(limits.payouts, 'payout')}`,
  ].join('\n');
}

function pesosText(amount: bigint | null): string {
  return amount === null ? 'any amount' : `COP ${decimalPesos(amount)}`;
}

function countText(count: number | null): string {
  return count === null ? 'any number' : counted(count, 'payout');
}

function holdText(seconds: number | null): string {
  if (seconds === null) return 'not at all';
  const unit = (['d', 'h', 'm', 's'] as const).find((each) => seconds % SECONDS[each] === 0) ?? 's';
  return `${seconds / SECONDS[unit]}${unit}`;
}
