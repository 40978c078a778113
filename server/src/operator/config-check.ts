import { ConfigError, givenSettings, type Role, readConfig } from '../config.ts';
import type { Options, Output } from './options.ts';
import { weakSecrets } from './weak-secrets.ts';
import { weakSettings } from './weak-settings.ts';

const ROLES = ['api', 'worker', 'all', 'migrate'] as const;

/** Reads the configuration as a role would, and connects to nothing. */
export function configCheck(options: Options): Promise<Output> {
  const named = options.matching('role', /^.+$/, 'a role', 'all');
  const role = ROLES.find((each) => each === named) ?? 'all';
  const { faults, environment } = faultsOf(role);
  const given = givenSettings();
  // Production has refused some of them already.
  const warnings = [...weakSecrets(given), ...weakSettings(given, role)].filter(
    (warning) => !faults.some((fault) => nameIn(fault) === nameIn(warning)),
  );
  const verdict =
    faults.length === 0
      ? `The configuration can be read by "${role}" (${environment})${warnings.length === 0 ? '.' : `, with ${count(warnings, 'warning')}:`}`
      : `"${role}" would not start: the configuration has ${count(faults, 'fault')}${warnings.length === 0 ? '' : ` and ${count(warnings, 'warning')}`}.`;
  return Promise.resolve({
    json: { role, environment, ok: faults.length === 0, faults, warnings },
    text: [
      verdict,
      ...faults.map((fault) => `  fault    ${fault}`),
      ...warnings.map((warning) => `  warning  ${warning}`),
      ...(faults.length > 0 ? ['Every setting: docs/reference/configuration.md'] : []),
    ].join('\n'),
    bad: faults.length > 0,
  });
}

function faultsOf(role: Role): { faults: readonly string[]; environment: string | null } {
  try {
    return { faults: [], environment: readConfig(role).environment };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { faults: error.faults, environment: givenSettings()['CAUDAL_ENV'] ?? null };
  }
}

/** The setting that a sentence begins with. */
function nameIn(sentence: string): string {
  return /^[A-Z_]+/.exec(sentence)?.[0] ?? sentence;
}

function count(things: readonly unknown[], what: string): string {
  return `${things.length} ${what}${things.length === 1 ? '' : 's'}`;
}
