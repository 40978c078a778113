import { type Config, ConfigError, givenSettings, readConfig, SECRETS } from '../config.ts';
import { counted, type Finding, fail, ok, skip, warn } from './finding.ts';
import { developmentSecrets, weakSecrets } from './weak-secrets.ts';
import { weakSettings } from './weak-settings.ts';

/** Configuration and secrets; the configuration itself where it can be read. */
export function examineSettings(): { config: Config | null; findings: Finding[] } {
  const { config, finding } = readable();
  return { config, findings: [finding, secrets()] };
}

function readable(): { config: Config | null; finding: Finding } {
  try {
    const config = readConfig('operator');
    const weak = weakSettings(givenSettings(), null);
    const finding =
      weak.length === 0
        ? ok('configuration', `${config.environment}, cell ${config.cell}, ${config.baseUrl}`)
        : warn('configuration', weak.join('\n'), 'correct it, then: caudal config check');
    return { config, finding };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const says = `${counted(error.faults.length, 'fault')}:\n${error.faults.join('\n')}`;
    return {
      config: null,
      finding: fail(
        'configuration',
        says,
        'give the settings by the environment or --env-file FILE (in a clone: npm run dev, then npx caudal doctor); then: caudal config check',
      ),
    };
  }
}

function secrets(): Finding {
  const given = givenSettings();
  if (SECRETS.every((name) => given[name] === undefined)) return skip('secrets', 'none is set');
  const weak = weakSecrets(given);
  const development = developmentSecrets(given).length;
  if (weak.length === 0)
    return ok(
      'secrets',
      given['CAUDAL_ENV'] === 'development' && development > 0
        ? `${development} are development secrets, known to everybody: fine on one machine, refused in production`
        : 'none that could be guessed, as far as can be seen',
    );
  const todo =
    'make each anew (openssl rand -base64 48; what a rail gave you, the rail makes anew), and change it as docs/reference/configuration.md says of its _PREVIOUS';
  return given['CAUDAL_ENV'] === 'production'
    ? fail('secrets', weak.join('\n'), todo)
    : warn('secrets', weak.join('\n'), todo);
}
