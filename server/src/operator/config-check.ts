import { ConfigError, rawSettings, readConfig } from '../config.ts';
import type { Role } from '../settings/settings.ts';
import type { Options, Output } from './options.ts';
import { weakSecrets } from './weak-secrets.ts';
import { weakSettings } from './weak-settings.ts';

const ROLES = ['api', 'worker', 'all', 'migrate'] as const;

/** Validates the configuration for a role, without opening a connection. */
export function configCheck(options: Options): Promise<Output> {
  const roleName = options.matching('role', /^.+$/, 'a role', 'all');
  const role = ROLES.find((each) => each === roleName) ?? 'all';
  const { problems, environment } = readProblems(role);
  const settings = rawSettings();
  // Some weak settings are already reported as problems in production.
  const warnings = [...weakSecrets(settings), ...weakSettings(settings, role)].filter(
    (warning) => !problems.some((problem) => nameIn(problem) === nameIn(warning)),
  );
  const verdict =
    problems.length === 0
      ? `The configuration is valid for "${role}" (${environment})${warnings.length === 0 ? '.' : `, with ${count(warnings, 'warning')}:`}`
      : `"${role}" would not start: the configuration has ${count(problems, 'problem')}${warnings.length === 0 ? '' : ` and ${count(warnings, 'warning')}`}.`;
  return Promise.resolve({
    json: { role, environment, ok: problems.length === 0, problems, warnings },
    text: [
      verdict,
      ...problems.map((problem) => `  problem  ${problem}`),
      ...warnings.map((warning) => `  warning  ${warning}`),
      ...(problems.length > 0 ? ['See docs/reference/configuration.md for all settings'] : []),
    ].join('\n'),
    bad: problems.length > 0,
  });
}

function readProblems(role: Role): { problems: readonly string[]; environment: string | null } {
  try {
    return { problems: [], environment: readConfig(role).environment };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { problems: error.problems, environment: rawSettings()['CAUDAL_ENV'] ?? null };
  }
}

/** The setting name at the start of a problem or warning. */
function nameIn(text: string): string {
  return /^[A-Z_]+/.exec(text)?.[0] ?? text;
}

function count(items: readonly unknown[], noun: string): string {
  return `${items.length} ${noun}${items.length === 1 ? '' : 's'}`;
}
