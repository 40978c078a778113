/**
 * npm run check: all static checks of the repository.
 * All steps run even when one fails, so that one run shows all problems.
 */
import { spawnSync } from 'node:child_process';

const steps: [name: string, command: string, args: string[]][] = [
  ['format', 'biome', ['check', '--error-on-warnings', '.']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['architecture rules', 'node', ['scripts/architecture-rules.ts']],
  ['test rules', 'node', ['scripts/test-rules.ts']],
  ['vocabulary', 'node', ['scripts/vocabulary.ts']],
  ['migrations', 'node', ['scripts/migration-rules.ts']],
  ['dead code', 'knip', ['--no-progress']],
  ['lockfile', 'node', ['scripts/complete-lockfile.ts', '--check']],
  ['generated files', 'node', ['scripts/generate.ts', '--check']],
];

let failed = 0;
for (const [name, command, args] of steps) {
  const started = performance.now();
  const run = spawnSync(command, args, { encoding: 'utf8' });
  const passed = run.status === 0;
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  console.log(`${passed ? 'ok  ' : 'FAIL'}  ${name} (${seconds} s)`);
  if (passed) continue;
  failed += 1;
  console.log(run.error ? String(run.error) : `${run.stdout}${run.stderr}`);
}
process.exitCode = failed === 0 ? 0 : 1;
