import { ApiError } from '@caudal/sdk';
import { apiKeyMode, maskApiKey } from '../connection/api-key.ts';
import { type Profile, readProfiles, writeProfiles } from '../connection/config-file.ts';
import { createClient, parseUrl } from '../connection/connection.ts';
import { findDevStack } from '../connection/dev-stack.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError, UsageError } from '../framework/errors.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { withProgress } from '../output/progress.ts';
import { isInteractive, prompt, readStdin } from '../output/prompt.ts';

const DEFAULT_PROFILE = 'default';

export const PROFILE_COMMANDS: readonly Command[] = [
  {
    name: 'login',
    section: 'start',
    summary: 'check and store a base URL and an API key',
    options: [
      {
        name: 'simulator',
        value: 'URL',
        summary: 'URL of the simulator of a staging server',
      },
    ],
    args: [],
    details:
      'Prompts for missing values, without echoing the API key; without a terminal it reads the key from stdin. --profile sets the name of the profile (default: "default"), which becomes the current one. Stored in $XDG_CONFIG_HOME/caudal/config.json (~/.config), readable only by you.',
    examples: [
      'caudal login',
      'caudal login --profile staging --base-url https://staging.example.com < key.txt',
    ],
    run: login,
  },
  {
    name: 'logout',
    section: 'start',
    summary: 'delete a profile',
    options: [],
    args: [],
    details:
      'Deletes the current profile, or --profile NAME. The API key stays valid until an operator revokes it (keys revoke).',
    examples: ['caudal logout --profile staging'],
    run: logout,
  },
  {
    name: 'profiles list',
    section: 'start',
    summary: 'list stored profiles',
    options: [],
    args: [],
    examples: ['caudal profiles list'],
    run: list,
  },
  {
    name: 'profiles use',
    section: 'start',
    summary: 'make a profile the current one',
    options: [],
    args: [{ name: 'NAME', summary: 'name of the profile' }],
    examples: ['caudal profiles use staging'],
    run: use,
  },
];

async function login(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, environment, signal } = context;
  const name = args.text('profile') ?? DEFAULT_PROFILE;
  if (!/^[\w.-]{1,40}$/.test(name))
    throw new UsageError(`"${name}" is not a valid profile name: use letters, digits, . _ -`);
  const baseUrl = await readBaseUrl(context, args);
  const apiKey = args.text('api-key') ?? (await readApiKey(context));
  if (apiKeyMode(apiKey) === null)
    throw new CliError('not an API key', [
      'An API key starts with cdl_test_ or cdl_live_; copy it completely.',
    ]);
  await withProgress(screen, `Checking the API key at ${baseUrl}`, () =>
    checkKey({ apiKey, baseUrl }, signal),
  );
  const simulator = args.text('simulator');
  const profile: Profile = {
    baseUrl,
    apiKey,
    ...(simulator === undefined ? {} : { simulatorUrl: parseUrl(simulator) }),
  };
  const stored = readProfiles(environment.configFile);
  writeProfiles(environment.configFile, { current: name, profiles: { ...stored.profiles, [name]: profile } });
  screen.result(
    { profile: name, baseUrl, apiKey: maskApiKey(apiKey), current: true },
    () => `Profile ${name} is stored and current: ${baseUrl}, ${maskApiKey(apiKey)}`,
  );
  return undefined;
}

async function readBaseUrl({ environment, signal }: Context, args: ParsedArgs): Promise<string> {
  const url = args.text('base-url') ?? (environment.baseUrl || undefined);
  if (url !== undefined) return parseUrl(url);
  const devStackUrl = findDevStack(environment.folder)?.baseUrl;
  if (!isInteractive()) {
    throw new UsageError('login needs --base-url', ['There is no terminal to prompt on.']);
  }
  const typed = await prompt(
    `Base URL of the API${devStackUrl === undefined ? '' : ` [${devStackUrl}]`}: `,
    signal,
  );
  return parseUrl(typed === '' ? (devStackUrl ?? '') : typed);
}

async function readApiKey({ signal }: Context): Promise<string> {
  const typed = isInteractive()
    ? await prompt('API key (hidden): ', signal, true)
    : (await readStdin()).trim();
  if (typed === '') throw new UsageError('login needs an API key: typed, from stdin, or with --api-key');
  return typed;
}

/** Checks the API key with a read of the balance. A key without that scope is valid too. */
export async function checkKey(
  connection: { readonly apiKey: string; readonly baseUrl: string },
  signal: AbortSignal,
): Promise<Awaited<ReturnType<ReturnType<typeof createClient>['balance']['get']>> | null> {
  try {
    return await createClient(connection).balance.get({ signal, maxRetries: 1 });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'insufficient_scope') return null;
    throw error;
  }
}

async function logout({ screen, environment }: Context, args: ParsedArgs): Promise<undefined> {
  const stored = readProfiles(environment.configFile);
  const name = args.text('profile') ?? stored.current;
  if (name === null || stored.profiles[name] === undefined)
    throw new CliError(name === null ? 'there is no current profile' : `there is no profile "${name}"`, [
      'See: caudal profiles list',
    ]);
  const profiles = Object.fromEntries(Object.entries(stored.profiles).filter(([each]) => each !== name));
  writeProfiles(environment.configFile, {
    current: stored.current === name ? null : stored.current,
    profiles,
  });
  screen.result({ forgotten: name }, () => `Deleted profile ${name}.`);
  return undefined;
}

async function list({ screen, environment }: Context): Promise<undefined> {
  const { current, profiles } = readProfiles(environment.configFile);
  const rows = Object.entries(profiles).map(([name, { baseUrl, apiKey, simulatorUrl }]) => ({
    name,
    current: name === current,
    baseUrl,
    apiKey: maskApiKey(apiKey),
    simulatorUrl: simulatorUrl ?? null,
  }));
  screen.result({ data: rows }, () =>
    screen.table(
      [
        { title: '', text: (row) => (row.current ? '*' : '') },
        { title: 'PROFILE', text: ({ name }) => name },
        { title: 'BASE URL', text: ({ baseUrl }) => baseUrl, minWidth: 20 },
        { title: 'KEY', text: ({ apiKey }) => apiKey },
      ],
      rows,
      'No profiles. Create one: caudal login',
    ),
  );
  return undefined;
}

async function use({ screen, environment }: Context, args: ParsedArgs): Promise<undefined> {
  const stored = readProfiles(environment.configFile);
  const name = args.positional(0);
  if (stored.profiles[name] === undefined) {
    const known = Object.keys(stored.profiles);
    throw new CliError(`there is no profile "${name}"`, [
      known.length > 0 ? `Profiles: ${known.join(', ')}` : 'No profiles yet. Create one: caudal login',
    ]);
  }
  writeProfiles(environment.configFile, { ...stored, current: name });
  screen.result(
    { profile: name, current: true },
    () => `Using profile ${name}: ${stored.profiles[name]?.baseUrl}`,
  );
  return undefined;
}
