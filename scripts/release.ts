/**
 * npm run release: prepares the release of the next version in the working copy: versions of all packages, tarball names
 * in the docs, a dated changelog. Prints the release notes and the commands that publish it. `-- --notes` only prints the
 * notes. It commits, tags and publishes nothing.
 */
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { datedChangelog } from './release/changelog.ts';
import { nextVersion, parseCommit, releaseNotes } from './release/conventional-commits.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

function main(): void {
  const { values } = parseArgs({ options: { notes: { type: 'boolean' }, version: { type: 'string' } } });
  const { version: current } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    readonly version: string;
  };
  const tag = git('tag', '--list', 'v*', '--sort=-v:refname').split('\n')[0] ?? '';
  const commits = git('log', '--no-merges', '--format=%B%x00', ...(tag === '' ? [] : [`${tag}..HEAD`]))
    .split('\0')
    .flatMap((message) => parseCommit(message.trim()) ?? []);
  if (commits.length === 0) throw new Error(`no commits since ${tag}`);
  // Without a tag the version in package.json was never released.
  const version = values.version ?? (tag === '' ? current : nextVersion(current, commits));
  const date = new Date().toISOString().slice(0, 10);
  if (!values.notes) prepare(current, version, date);
  process.stdout.write(releaseNotes(version, date, commits));
  if (values.notes) return;
  process.stderr.write(`
Read the changes, then publish them:

  git commit --all --message 'chore: release ${version}'
  git tag v${version}
  git push origin main v${version}     # .github/workflows/publish.yml publishes the packages
`);
}

function prepare(current: string, version: string, date: string): void {
  if (git('status', '--porcelain') !== '') throw new Error('the working copy has uncommitted changes');
  rewrite('CHANGELOG.md', (text) => datedChangelog(text, version, date));
  if (version === current) return;
  for (const name of git('ls-files', 'package.json', '*/package.json').split('\n'))
    rewrite(name, (text) =>
      text
        .replace(`"version": "${current}"`, `"version": "${version}"`)
        .replaceAll(/("@caudal\/[\w-]+": )"[^"]+"/g, `$1"${version}"`),
    );
  const tarball = new RegExp(`(caudal-(?:sdk|cli)-)${current.replaceAll('.', '\\.')}(\\.tgz)`, 'g');
  // Not in texts about earlier versions.
  const texts = git('ls-files', '*.md', ':!CHANGELOG.md', ':!docs/decisions').split('\n');
  for (const name of texts) rewrite(name, (text) => text.replaceAll(tarball, `$1${version}$2`));
  run('npm', 'install', '--package-lock-only', '--ignore-scripts');
  run('npm', 'run', 'generate');
}

function rewrite(name: string, change: (text: string) => string): void {
  const path = join(ROOT, name);
  const text = readFileSync(path, 'utf8');
  const changed = change(text);
  if (changed !== text) writeFileSync(path, changed);
}

function git(...args: readonly string[]): string {
  return run('git', ...args).trim();
}

function run(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd: ROOT, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

main();
