const UNRELEASED = '## Unreleased\n';

/** Turns the unreleased section into that of a version, and starts an empty one above it. */
export function datedChangelog(text: string, version: string, date: string): string {
  const at = text.indexOf(UNRELEASED);
  if (at === -1) throw new Error('CHANGELOG.md has no section "## Unreleased"');
  if (text.includes(`\n## ${version} (`))
    throw new Error(`CHANGELOG.md already has version ${version}: tag its commit with v${version} first`);
  const rest = text.slice(at + UNRELEASED.length);
  const entries = rest.split(/^## /m)[0] ?? '';
  if (!/^\s*- /m.test(entries)) throw new Error('CHANGELOG.md lists no unreleased change');
  return `${text.slice(0, at)}${UNRELEASED}\n## ${version} (${date})\n${rest}`;
}
