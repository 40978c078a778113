export interface Commit {
  readonly type: string;
  readonly scope: string | null;
  readonly subject: string;
  readonly breaking: boolean;
}

const SUBJECT = /^(?<type>[a-z]+)(?:\((?<scope>[^)]+)\))?(?<breaking>!)?: (?<subject>.+)$/;

/** A commit by its message; null when it does not follow Conventional Commits. */
export function parseCommit(message: string): Commit | null {
  const [first = '', ...rest] = message.split('\n');
  const { type, scope, breaking, subject } = SUBJECT.exec(first)?.groups ?? {};
  if (type === undefined || subject === undefined) return null;
  return {
    type,
    scope: scope ?? null,
    subject,
    breaking: breaking !== undefined || rest.some((line) => line.startsWith('BREAKING CHANGE: ')),
  };
}

/** Before 1.0 a breaking change raises the minor version. */
export function nextVersion(current: string, commits: readonly Commit[]): string {
  const [major = 0, minor = 0, patch = 0] = current.split('.').map(Number);
  const breaking = commits.some((commit) => commit.breaking);
  if (breaking && major > 0) return `${major + 1}.0.0`;
  if (breaking || commits.some(({ type }) => type === 'feat')) return `${major}.${minor + 1}.0`;
  return `${major}.${minor}.${patch + 1}`;
}

const SECTIONS: readonly (readonly [title: string, includes: (commit: Commit) => boolean])[] = [
  ['Breaking changes', ({ breaking }) => breaking],
  ['Features', ({ type, breaking }) => type === 'feat' && !breaking],
  ['Fixes', ({ type, breaking }) => type === 'fix' && !breaking],
  ['Performance', ({ type, breaking }) => type === 'perf' && !breaking],
];

/** Release notes in Markdown, for readers of the repository; the changelog is for its users. */
export function releaseNotes(version: string, date: string, commits: readonly Commit[]): string {
  const sections = SECTIONS.map(([title, includes]) => {
    const lines = commits
      .filter(includes)
      .map(({ scope, subject }) => `- ${scope === null ? '' : `**${scope}:** `}${subject}`);
    return lines.length === 0 ? '' : `### ${title}\n\n${lines.join('\n')}\n`;
  });
  return [`## ${version} (${date})\n`, ...sections.filter((text) => text !== '')].join('\n');
}
