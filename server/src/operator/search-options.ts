import { type Options, UsageError } from './options.ts';

const DAY_MS = 86_400_000;
/** Colombia has one time zone and no daylight saving time. */
const BOGOTA = '-05:00';
const MAX_DAYS = 31;

/** An amount in pesos, as `49800` or `49800.50`. */
export function readCents(options: Options, name: string): bigint | undefined {
  const text = options.matching(name, /^\d{1,10}(?:\.\d{1,2})?$/, 'pesos, such as 49800 or 49800.50', '');
  if (text === '') return undefined;
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole) * 100n + BigInt(fraction.padEnd(2, '0'));
}

/** `--day`, or `--from` and `--to` (both inclusive), in Colombian time. */
export function readSpan(options: Options): { from: Date; to: Date } | undefined {
  const day = readDay(options, 'day');
  const from = readDay(options, 'from') ?? day;
  const to = readDay(options, 'to') ?? day;
  if (day && (readDay(options, 'from') ?? readDay(options, 'to')))
    throw new UsageError('give either --day, or --from and --to');
  if (!from && !to) return undefined;
  if (!from || !to) throw new UsageError('give both --from and --to');
  const days = (to.getTime() - from.getTime()) / DAY_MS + 1;
  if (days < 1) throw new UsageError('--from is after --to');
  if (days > MAX_DAYS) throw new UsageError(`--from and --to span ${days} days; the maximum is ${MAX_DAYS}`);
  return { from, to: new Date(to.getTime() + DAY_MS) };
}

function readDay(options: Options, name: string): Date | undefined {
  const text = options.matching(name, /^\d{4}-\d{2}-\d{2}$/, 'a day, such as 2026-11-16', '');
  if (text === '') return undefined;
  const day = new Date(`${text}T00:00:00${BOGOTA}`);
  // Date parses 2026-02-30 as another day.
  if (
    Number.isNaN(day.getTime()) ||
    new Date(day.getTime() - 5 * 3_600_000).toISOString().slice(0, 10) !== text
  )
    throw new UsageError(`--${name}: ${text} is not a valid day`);
  return day;
}
