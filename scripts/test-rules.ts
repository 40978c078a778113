/**
 * Rules for the tests of the gate, which must have the same result on any machine (docs/decisions/0065). `npm run check` runs this.
 * Long tests (`*.long.test.ts`, `*.long.e2e.ts`) may do all of it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

interface TestFile {
  /** Path from the repository's root. */
  readonly path: string;
  readonly text: string;
}

const RULES = {
  clock: {
    pattern: /\b(?:performance|Date)\.now\(/,
    instead: 'use stopwatch() or within() of scripts/testing/expect-within.ts, or a fixed time',
  },
  random: { pattern: /\bMath\.random\(/, instead: 'use a fixed value, or scripts/testing/property.ts' },
  'fast-check': {
    pattern: /from 'fast-check'/,
    instead: 'import fc from scripts/testing/property.ts, which fixes the seed',
  },
  timer: {
    pattern: /\b(?:setTimeout|setInterval|sleep|waitForTimeout)\(|from 'node:timers(?:\/promises)?'/,
    instead: 'wait for a condition with until()',
  },
} as const;

type RuleName = keyof typeof RULES;
type Exceptions = Readonly<Record<string, Readonly<Partial<Record<RuleName, string>>>>>;

/** By path: rules that do not apply, and why the result of the test does not depend on it. */
const EXCEPTIONS: Exceptions = {
  'examples/webhook-receiver/receiver.test.ts': {
    clock: 'the receiver rejects webhooks with an old timestamp',
  },
  'scripts/architecture-rules.unit.test.ts': { clock: 'text of an example' },
  'scripts/test-rules.unit.test.ts': {
    clock: 'text of an example',
    random: 'text of an example',
    'fast-check': 'text of an example',
    timer: 'text of an example',
  },
  'sdk/test/smoke.test.ts': { clock: 'a filter by time of creation' },
  'sdk/test/webhook-examples.test.ts': { clock: 'the SDK rejects webhooks with an old timestamp' },
  'sdk/test/webhook-handler.test.ts': { clock: 'the SDK rejects webhooks with an old timestamp' },
  'server/test/concurrency/batches.test.ts': {
    timer: 'setImmediate separates commands into batches; the result does not depend on it',
  },
  'server/test/flows/key-registration.test.ts': {
    clock: "compared with the simulator's time of registration",
  },
  'server/test/isolation/personal-data.test.ts': { clock: 'compared with times of modification of files' },
  'server/test/isolation/receiver-data.test.ts': { clock: 'compared with times of modification of files' },
  'server/test/operator/doctor.test.ts': { clock: 'the Date header of a peer whose clock is wrong' },
  'server/test/outcomes/payout-notices.test.ts': {
    clock: 'the server rejects notices with an old timestamp',
  },
  'server/test/outcomes/rail-notices.test.ts': { clock: 'the server rejects notices with an old timestamp' },
  'server/test/rails/contract.test.ts': { timer: 'a node that answers late' },
  'server/test/rails/orders.test.ts': { timer: 'a node that answers late' },
  'server/test/webhooks/sender.limits.test.ts': {
    timer: 'a deadline is held until its condition is met; a listener that accepts no connection',
  },
  'simulator/test/access.test.ts': { clock: "brackets the simulator's answer" },
  'simulator/test/breb-directory.test.ts': { clock: 'a time of expiry in the future' },
  'simulator/test/magic.test.ts': { clock: 'a time of expiry in the future' },
};

export function findTestViolations(files: readonly TestFile[], exceptions = EXCEPTIONS): string[] {
  const found: string[] = [];
  const used = new Set<string>();
  for (const { path, text } of files.filter((file) => isGateTest(file.path))) {
    for (const [index, line] of text.split('\n').entries()) {
      if (/^\s*(?:\/\/|\*|\/\*)/.test(line)) continue;
      for (const [name, { pattern, instead }] of Object.entries(RULES)) {
        if (!pattern.test(line)) continue;
        if (exceptions[path]?.[name as RuleName] === undefined)
          found.push(`${path}:${index + 1}: ${name}: ${instead}`);
        else used.add(`${path} ${name}`);
      }
    }
  }
  for (const [path, rules] of Object.entries(exceptions))
    for (const name of Object.keys(rules))
      if (!used.has(`${path} ${name}`))
        found.push(`${path}: the exception from "${name}" is not used: remove it`);
  return found;
}

function isGateTest(path: string): boolean {
  return /\.(?:test|e2e)\.ts$/.test(path) && !/\.long\.(?:test|e2e)\.ts$/.test(path);
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const paths = execFileSync(
    'git',
    ['ls-files', '--cached', '--others', '--exclude-standard', '*.test.ts', '*.e2e.ts'],
    {
      cwd: root,
      encoding: 'utf8',
    },
  ).split('\n');
  const files = paths.flatMap((path) => {
    try {
      return path === '' ? [] : [{ path, text: readFileSync(`${root}/${path}`, 'utf8') }];
    } catch {
      // Deleted in the working tree.
      return [];
    }
  });
  const violations = findTestViolations(files);
  for (const violation of violations) console.error(violation);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
