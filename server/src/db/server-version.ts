/** Major versions of PostgreSQL that the tests run on, and every one between them. */
const OLDEST = 15;
const NEWEST = 18;

/**
 * @param versionNumber `server_version_num`, as 150018 for 15.18
 * @returns why this version cannot be used, or null
 */
export function versionFault(versionNumber: number): string | null {
  const major = Math.floor(versionNumber / 10_000);
  if (major >= OLDEST && major <= NEWEST) return null;
  return `PostgreSQL ${major} is not supported: use a version from ${OLDEST} to ${NEWEST}`;
}
