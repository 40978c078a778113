import { isDatabaseError } from '../db/failures.ts';

/** The result of one `doctor` check. */
export interface Finding {
  readonly name: string;
  /** `skip`: the check could not run because of a problem that another finding reports. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly message: string;
  /** The remedy, with the command to run. */
  readonly todo: string | null;
}

export function ok(name: string, message: string): Finding {
  return { name, status: 'ok', message, todo: null };
}

export function warn(name: string, message: string, todo: string): Finding {
  return { name, status: 'warn', message, todo };
}

export function fail(name: string, message: string, todo: string): Finding {
  return { name, status: 'fail', message, todo };
}

export function skip(name: string, message: string): Finding {
  return { name, status: 'skip', message, todo: null };
}

/** Grades a backlog by the age of its oldest item. */
export function byAge(seconds: number, warnAfter: number, failAfter: number): 'ok' | 'warn' | 'fail' {
  if (seconds > failAfter) return 'fail';
  return seconds > warnAfter ? 'warn' : 'ok';
}

/** SQLSTATEs of an older database: a missing schema, table, column, function or privilege. */
const NOT_MIGRATED: ReadonlySet<string> = new Set(['3F000', '42P01', '42703', '42883', '42501']);

/**
 * Runs a check. An error becomes a finding too, so that the other checks still report.
 * @param migrated false: the migrations check already reports what the database lacks
 */
export async function runCheck(
  name: string,
  check: () => Promise<Finding>,
  migrated = true,
): Promise<Finding> {
  try {
    return await check();
  } catch (error) {
    if (!migrated && isDatabaseError(error) && NOT_MIGRATED.has(error.code ?? ''))
      return skip(name, 'not checked: the database schema is of another version');
    const message = error instanceof Error ? error.message : String(error);
    return fail(name, `check failed with an error: ${message}`, 'try again: caudal doctor');
  }
}

/** A duration in a readable unit. */
export function duration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.round(whole / 60)} min`;
  return whole < 172_800 ? `${Math.round(whole / 3600)} h` : `${Math.round(whole / 86_400)} days`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
