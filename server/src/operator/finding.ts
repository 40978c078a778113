import { isDatabaseError } from '../db/failures.ts';

/** What one look of `doctor` found. */
export interface Finding {
  readonly name: string;
  /** `skip`: it could not be looked at, because of something that is named elsewhere. */
  readonly status: 'ok' | 'warn' | 'fail' | 'skip';
  readonly says: string;
  /** What to do about it, with the command to type. */
  readonly todo: string | null;
}

export function ok(name: string, says: string): Finding {
  return { name, status: 'ok', says, todo: null };
}

export function warn(name: string, says: string, todo: string): Finding {
  return { name, status: 'warn', says, todo };
}

export function fail(name: string, says: string, todo: string): Finding {
  return { name, status: 'fail', says, todo };
}

export function skip(name: string, says: string): Finding {
  return { name, status: 'skip', says, todo: null };
}

/** For what grows worse with time: fine, then to be watched, then broken. */
export function byAge(seconds: number, warnAfter: number, failAfter: number): 'ok' | 'warn' | 'fail' {
  if (seconds > failAfter) return 'fail';
  return seconds > warnAfter ? 'warn' : 'ok';
}

/** No schema, table, column or function of that name, or no right to it: an older database. */
const NOT_MIGRATED: ReadonlySet<string> = new Set(['3F000', '42P01', '42703', '42883', '42501']);

/**
 * One look; whatever it throws is a finding too, so that the others are not lost with it.
 * @param ofThisVersion false: what is missing in the database is named by its migrations already
 */
export async function look(
  name: string,
  ask: () => Promise<Finding>,
  ofThisVersion = true,
): Promise<Finding> {
  try {
    return await ask();
  } catch (error) {
    if (!ofThisVersion && isDatabaseError(error) && NOT_MIGRATED.has(error.code ?? ''))
      return skip(name, 'not looked at: the database is of another version');
    const message = error instanceof Error ? error.message : String(error);
    return fail(name, `could not be looked at: ${message}`, 'look again: caudal doctor');
  }
}

/** How long, as people say it. */
export function duration(seconds: number): string {
  const whole = Math.round(Math.abs(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.round(whole / 60)} min`;
  return whole < 172_800 ? `${Math.round(whole / 3600)} h` : `${Math.round(whole / 86_400)} days`;
}

export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
