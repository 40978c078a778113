import { Caudal } from '@caudal/sdk';
import { CliError, UsageError } from '../framework/errors.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { type Profile, readProfiles } from './config-file.ts';
import { findDevStack } from './dev-stack.ts';
import type { Environment } from './environment.ts';

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly simulatorUrl: string | null;
  /** Where the credentials come from, for display. */
  readonly source: string;
}

const HOW_TO_CONNECT = [
  'In a clone of Caudal: npm run dev starts a server, and commands detect it.',
  'Otherwise: caudal login, or set CAUDAL_API_KEY and CAUDAL_BASE_URL.',
];

/** Base URL and credentials, from the first source that has both. */
export function resolveConnection(environment: Environment, args: ParsedArgs): Connection {
  const apiKey = args.text('api-key') ?? environment.apiKey;
  const baseUrl = args.text('base-url') ?? environment.baseUrl;
  const profileName = args.text('profile') ?? environment.profile;
  const namesProfile = args.text('profile') !== undefined;
  if (baseUrl === '' && !namesProfile)
    throw new UsageError('CAUDAL_BASE_URL is empty', ['Set it to the URL of the server, or unset it.']);
  const usesApiKey =
    args.text('api-key') !== undefined || (environment.apiKey !== undefined && !namesProfile);
  if (usesApiKey && apiKey !== undefined)
    return connectionFromApiKey(environment, apiKey, baseUrl, profileName, args);
  if (args.text('base-url') !== undefined) throw baseUrlWithoutKey('--base-url');
  // Otherwise the command would silently go to the server of a profile or of caudal dev.
  if (environment.baseUrl !== undefined && !namesProfile) throw baseUrlWithoutKey('CAUDAL_BASE_URL');
  const stored = storedConnection(environment, profileName);
  if (stored === null) throw new CliError('no credentials found', HOW_TO_CONNECT);
  return stored;
}

function baseUrlWithoutKey(source: string): UsageError {
  return new UsageError(`${source} needs --api-key or CAUDAL_API_KEY`, [
    'A stored API key is only sent to the base URL it was stored with.',
  ]);
}

function connectionFromApiKey(
  environment: Environment,
  apiKey: string,
  baseUrl: string | undefined,
  profileName: string | undefined,
  args: ParsedArgs,
): Connection {
  const source = args.text('api-key') === undefined ? 'CAUDAL_API_KEY' : '--api-key';
  if (apiKey === '') throw new UsageError(`${source} is empty`, ['Set it to an API key, or unset it.']);
  const stack = findDevStack(environment.folder);
  const simulatorFor = (url: string) => (stack?.baseUrl === url ? stack.simulatorUrl : null);
  if (baseUrl !== undefined) {
    const url = parseUrl(baseUrl);
    return { apiKey, baseUrl: url, simulatorUrl: simulatorFor(url), source };
  }
  const stored = storedConnection(environment, profileName);
  if (stored === null)
    throw new CliError(`${source} is set, but there is no base URL`, ['Add --base-url or CAUDAL_BASE_URL.']);
  return { ...stored, apiKey, source: `${source}, base URL from ${stored.source}` };
}

function storedConnection(environment: Environment, profileName: string | undefined): Connection | null {
  const { current, profiles } = readProfiles(environment.configFile);
  const name = profileName ?? current;
  const profile = name === null ? undefined : profiles[name];
  if (name !== null && profile) return connectionFromProfile(name, profile, environment);
  if (profileName !== undefined) {
    const known = Object.keys(profiles);
    throw new CliError(`there is no profile "${profileName}"`, [
      known.length > 0 ? `Profiles: ${known.join(', ')}` : 'No profiles yet. Create one: caudal login',
    ]);
  }
  const stack = findDevStack(environment.folder);
  return stack && { ...stack, source: 'the caudal dev stack' };
}

function connectionFromProfile(name: string, profile: Profile, environment: Environment): Connection {
  const stack = findDevStack(environment.folder);
  const local = stack?.baseUrl === profile.baseUrl ? stack.simulatorUrl : null;
  return {
    apiKey: profile.apiKey,
    baseUrl: profile.baseUrl,
    simulatorUrl: profile.simulatorUrl ?? local,
    source: `profile ${name}`,
  };
}

/** @throws UsageError when the text is not an http(s) URL */
export function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${text}" is not a URL`, ['Include the scheme: https://api.example.com']);
  return url.href.replace(/\/+$/, '');
}

export function createClient(
  { apiKey, baseUrl }: Pick<Connection, 'apiKey' | 'baseUrl'>,
  customFetch?: typeof fetch,
): Caudal {
  return new Caudal({ apiKey, baseUrl, ...(customFetch ? { fetch: customFetch } : {}) });
}
