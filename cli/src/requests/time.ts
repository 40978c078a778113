import { UsageError } from '../framework/errors.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** 30s, 5m, 2h or 1d. */
export function parseDuration(text: string): number | null {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  return ms > 0 ? ms : null;
}

export function parseDurationOption(name: string, text: string): number {
  const ms = parseDuration(text);
  if (ms === null) throw new UsageError(`--${name}: "${text}" is not a duration`, ['Use 30s, 5m, 2h or 1d.']);
  return ms;
}

/** Parses a date, a timestamp or a duration before now. */
export function parseTimestamp(name: string, text: string, nowMs: number): Date {
  const ago = parseDuration(text);
  if (ago !== null) return new Date(nowMs - ago);
  const date = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(date.getTime())) {
    throw new UsageError(`--${name}: "${text}" is not a timestamp`, [
      'Use a duration (10m, 2h, 1d ago), a date (2026-11-15) or a timestamp (2026-11-15T10:00:00-05:00).',
    ]);
  }
  return date;
}

const two = (number: number): string => String(number).padStart(2, '0');

/** In the local time zone. */
export function formatTimeOfDay(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Without year and seconds, for narrow tables. */
export function formatShortTimestamp(iso: string): string {
  return formatTimestamp(iso).slice('2026-'.length, -':00'.length);
}

export function formatTimestamp(iso: string | null): string {
  if (iso === null) return '';
  const date = new Date(iso);
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${formatTimeOfDay(date)}`;
}
