import { Caudal } from '@caudal/sdk';
import { type Profile, readProfiles } from './config-file.ts';
import { findDevStack } from './dev-stack.ts';
import type { Environment } from './environment.ts';
import { Fault, UsageError } from './errors.ts';
import type { ParsedArgs } from './parsed-args.ts';

export interface Connection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly simulatorUrl: string | null;
  /** Where the credentials come from, in words. */
  readonly source: string;
}

const HOW_TO_CONNECT = [
  'On this machine: caudal dev starts a server, and commands find it by themselves.',
  'Elsewhere: caudal login, or CAUDAL_API_KEY and CAUDAL_BASE_URL.',
];

/** Whom to talk to and as whom: the first source that has both. */
export function connectionOf(environment: Environment, args: ParsedArgs): Connection {
  const apiKey = args.text('api-key') ?? environment.apiKey;
  const baseUrl = args.text('base-url') ?? environment.baseUrl;
  const named = args.text('profile') ?? environment.profile;
  const byKey =
    args.text('api-key') !== undefined ||
    (environment.apiKey !== undefined && args.text('profile') === undefined);
  if (byKey && apiKey !== undefined) return byOwnKey(environment, apiKey, baseUrl, named, args);
  if (args.text('base-url') !== undefined)
    throw new UsageError('--base-url needs --api-key or CAUDAL_API_KEY', [
      'A key that is kept is only ever sent to the address it was kept with.',
    ]);
  const kept = keptConnection(environment, named);
  if (kept === null) throw new Fault('no credentials', HOW_TO_CONNECT);
  return kept;
}

function byOwnKey(
  environment: Environment,
  apiKey: string,
  baseUrl: string | undefined,
  named: string | undefined,
  args: ParsedArgs,
): Connection {
  const source = args.text('api-key') === undefined ? 'CAUDAL_API_KEY' : '--api-key';
  const stack = findDevStack(environment.folder);
  const simulatorOf = (url: string) => (stack?.baseUrl === url ? stack.simulatorUrl : null);
  if (baseUrl !== undefined) {
    const address = readAddress(baseUrl);
    return { apiKey, baseUrl: address, simulatorUrl: simulatorOf(address), source };
  }
  const kept = keptConnection(environment, named);
  if (kept === null)
    throw new Fault(`${source} says who, but not where`, ['Add --base-url or CAUDAL_BASE_URL.']);
  return { ...kept, apiKey, source: `${source}, at the address of ${kept.source}` };
}

function keptConnection(environment: Environment, named: string | undefined): Connection | null {
  const { current, profiles } = readProfiles(environment.configFile);
  const name = named ?? current;
  const profile = name === null ? undefined : profiles[name];
  if (name !== null && profile) return ofProfile(name, profile, environment);
  if (named !== undefined) {
    const known = Object.keys(profiles);
    throw new Fault(`there is no profile "${named}"`, [
      known.length > 0 ? `There are: ${known.join(', ')}` : 'There are none yet: caudal login',
    ]);
  }
  const stack = findDevStack(environment.folder);
  return stack && { ...stack, source: 'the stack that caudal dev runs' };
}

function ofProfile(name: string, profile: Profile, environment: Environment): Connection {
  const stack = findDevStack(environment.folder);
  const local = stack?.baseUrl === profile.baseUrl ? stack.simulatorUrl : null;
  return {
    apiKey: profile.apiKey,
    baseUrl: profile.baseUrl,
    simulatorUrl: profile.simulatorUrl ?? local,
    source: `profile ${name}`,
  };
}

/** @throws UsageError for what is no address of an API */
export function readAddress(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new UsageError(`"${text}" is no address`, ['Write it whole: https://api.example.com']);
  return url.href.replace(/\/+$/, '');
}

export function clientOf(
  { apiKey, baseUrl }: Pick<Connection, 'apiKey' | 'baseUrl'>,
  seen?: typeof fetch,
): Caudal {
  return new Caudal({ apiKey, baseUrl, ...(seen ? { fetch: seen } : {}) });
}
