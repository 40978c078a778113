import { type Config, ConfigError, rawSettings, readConfig } from '../config.ts';
import { SECRETS } from '../settings/settings.ts';
import { counted, type Finding, fail, ok, skip, warn } from './finding.ts';
import { developmentSecrets, weakSecrets } from './weak-secrets.ts';
import { weakSettings } from './weak-settings.ts';

/** Checks configuration and secrets, and returns the configuration if it is valid. */
export function examineSettings(): { config: Config | null; findings: Finding[] } {
  const { config, finding } = configurationFinding();
  return { config, findings: [finding, secretsFinding()] };
}

function configurationFinding(): { config: Config | null; finding: Finding } {
  try {
    const config = readConfig('operator');
    const weak = weakSettings(rawSettings(), null);
    const finding =
      weak.length === 0
        ? ok('configuration', `${config.environment}, cell ${config.cell}, ${config.baseUrl}`)
        : warn('configuration', weak.join('\n'), 'correct it, then: caudal config check');
    return { config, finding };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const message = `${counted(error.problems.length, 'problem')}:\n${error.problems.join('\n')}`;
    return {
      config: null,
      finding: fail(
        'configuration',
        message,
        'set them as environment variables or with --env-file FILE (in a clone: npm run dev, then npm run --silent caudal -- doctor); then: caudal config check',
      ),
    };
  }
}

function secretsFinding(): Finding {
  const settings = rawSettings();
  if (SECRETS.every((name) => settings[name] === undefined)) return skip('secrets', 'none is set');
  const weak = weakSecrets(settings);
  const development = developmentSecrets(settings).length;
  if (weak.length === 0)
    return ok(
      'secrets',
      settings['CAUDAL_ENV'] === 'development' && development > 0
        ? `${development} are public development secrets: fine on one machine, rejected in production`
        : 'no weak secrets found',
    );
  const todo =
    'generate new secrets (openssl rand -base64 48; request new rail secrets from the rail) and rotate them with the _PREVIOUS settings (docs/reference/configuration.md)';
  return settings['CAUDAL_ENV'] === 'production'
    ? fail('secrets', weak.join('\n'), todo)
    : warn('secrets', weak.join('\n'), todo);
}
