import { UsageError } from './errors.ts';

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** 30s, 5m, 2h or 1d. */
export function readDuration(text: string): number | null {
  const [, count = '', unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const ms = Number(count) * (UNITS[unit] ?? 0);
  return ms > 0 ? ms : null;
}

export function durationOption(name: string, text: string): number {
  const ms = readDuration(text);
  if (ms === null) throw new UsageError(`--${name}: "${text}" is no time span`, ['Write 30s, 5m, 2h or 1d.']);
  return ms;
}

/** A moment: a date, a date with a time, or how long ago. */
export function readMoment(name: string, text: string, nowMs: number): Date {
  const ago = readDuration(text);
  if (ago !== null) return new Date(nowMs - ago);
  const moment = /^\d{4}-\d{2}-\d{2}/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (Number.isNaN(moment.getTime())) {
    throw new UsageError(`--${name}: "${text}" is no moment`, [
      'Write how long ago (10m, 2h, 1d), a date (2026-11-15) or a time (2026-11-15T10:00:00-05:00).',
    ]);
  }
  return moment;
}

const two = (number: number): string => String(number).padStart(2, '0');

/** In the clock of whoever reads it. */
export function showTime(moment: Date): string {
  return `${two(moment.getHours())}:${two(moment.getMinutes())}:${two(moment.getSeconds())}`;
}

/** Where room is short, beside an id. */
export function showMinute(iso: string): string {
  return showMoment(iso).slice('2026-'.length, -':00'.length);
}

export function showMoment(iso: string | null): string {
  if (iso === null) return '';
  const moment = new Date(iso);
  const day = `${moment.getFullYear()}-${two(moment.getMonth() + 1)}-${two(moment.getDate())}`;
  return `${day} ${showTime(moment)}`;
}
