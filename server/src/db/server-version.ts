/** Supported PostgreSQL major versions; the tests run on the oldest and the newest. */
const OLDEST = 15;
const NEWEST = 18;

/**
 * @param versionNumber `server_version_num`, for example 150018 for 15.18
 * @returns an error message when the version is not supported, or null
 */
export function versionError(versionNumber: number): string | null {
  const major = Math.floor(versionNumber / 10_000);
  if (major >= OLDEST && major <= NEWEST) return null;
  return `PostgreSQL ${major} is not supported: use a version from ${OLDEST} to ${NEWEST}`;
}
