import { realTime } from '../kit/clock.ts';
import type { Rail } from '../rails/contract.ts';
import type { RawSettings } from '../settings/settings.ts';
import type { ConfiguredCertificate } from '../settings/tls-files.ts';
import { duration, type Finding, fail, ok, skip, warn } from './finding.ts';

/** Banks and rails take weeks to issue a client certificate. */
const WARN_DAYS = 30;
const DAY_SECONDS = 86_400;

/** When the configured certificates expire; nothing when none is configured. */
export function certificatesFinding(certificates: readonly ConfiguredCertificate[]): Finding[] {
  const [first] = certificates.toSorted((a, b) => a.expiresAt.getTime() - b.expiresAt.getTime());
  if (!first) return [];
  const seconds = (first.expiresAt.getTime() - realTime().getTime()) / 1000;
  const at = `${first.setting} ${seconds < 0 ? 'expired' : 'expires'} on ${first.expiresAt.toISOString().slice(0, 10)}`;
  const todo = `replace the file of ${first.setting}, then restart every process`;
  if (seconds < 0) return [fail('certificates', `${at}: connections with it fail`, todo)];
  if (seconds < WARN_DAYS * DAY_SECONDS)
    return [warn('certificates', `${at}, in ${duration(seconds)}`, todo)];
  return [ok('certificates', `the first of ${certificates.length} ${at}`)];
}

/** A machine for operators may lack the credentials of the rails: then their checks are skipped. */
export function missingCredentials(raw: RawSettings): Readonly<Record<Rail, Finding | null>> {
  const skipped = (rail: Rail, setting: string) =>
    raw[setting] === undefined ? skip(`rail ${rail}`, `${setting} is not set: not checked`) : null;
  return { BRE_B: skipped('BRE_B', 'BREB_CLIENT_SECRET'), PSE: skipped('PSE', 'PSE_SECRET') };
}
