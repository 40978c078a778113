import { ApiError } from '@caudal/sdk';
import { environmentOf, maskedKey } from '../api-key.ts';
import type { Command, Context } from '../command.ts';
import { type Profile, readProfiles, writeProfiles } from '../config-file.ts';
import { clientOf, readAddress } from '../connection.ts';
import { findDevStack } from '../dev-stack.ts';
import { Fault, UsageError } from '../errors.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { withProgress } from '../progress.ts';
import { ask, canAsk, readStdin } from '../prompt.ts';

const USUAL_NAME = 'default';

export const PROFILE_COMMANDS: readonly Command[] = [
  {
    name: 'login',
    section: 'start',
    summary: 'keep an address and an API key, checked first',
    options: [
      {
        name: 'simulator',
        value: 'URL',
        summary: 'address of the simulator that plays its rails, on staging',
      },
    ],
    words: [],
    details:
      'Asks for what is not given; the key is not shown while it is typed, and is read from stdin where there is no terminal. --profile names what is kept ("default" when left out) and it is used from then on. Kept in $XDG_CONFIG_HOME/caudal/config.json (~/.config), readable by you alone.',
    examples: [
      'caudal login',
      'caudal login --profile staging --base-url https://staging.example.com < key.txt',
    ],
    run: login,
  },
  {
    name: 'logout',
    section: 'start',
    summary: 'forget a profile',
    options: [],
    words: [],
    details:
      'Forgets the one in use, or --profile NAME. The key itself stays valid: an operator ends it by keys revoke.',
    examples: ['caudal logout --profile staging'],
    run: logout,
  },
  {
    name: 'profiles list',
    section: 'start',
    summary: 'the profiles you keep',
    options: [],
    words: [],
    examples: ['caudal profiles list'],
    run: list,
  },
  {
    name: 'profiles use',
    section: 'start',
    summary: 'use this one from now on',
    options: [],
    words: [{ name: 'NAME', summary: 'name of the profile' }],
    examples: ['caudal profiles use staging'],
    run: use,
  },
];

async function login(context: Context, args: ParsedArgs): Promise<undefined> {
  const { screen, environment, signal } = context;
  const name = args.text('profile') ?? USUAL_NAME;
  if (!/^[\w.-]{1,40}$/.test(name))
    throw new UsageError(`"${name}" is no name of a profile: letters, digits, . _ -`);
  const baseUrl = await addressFor(context, args);
  const apiKey = args.text('api-key') ?? (await keyFor(context));
  if (environmentOf(apiKey) === null)
    throw new Fault('that is no API key', ['A key begins with cdl_test_ or cdl_live_ and is copied whole.']);
  await withProgress(screen, `Asking ${baseUrl}`, () => checkKey({ apiKey, baseUrl }, signal));
  const simulator = args.text('simulator');
  const profile: Profile = {
    baseUrl,
    apiKey,
    ...(simulator === undefined ? {} : { simulatorUrl: readAddress(simulator) }),
  };
  const kept = readProfiles(environment.configFile);
  writeProfiles(environment.configFile, { current: name, profiles: { ...kept.profiles, [name]: profile } });
  screen.answer(
    { profile: name, baseUrl, apiKey: maskedKey(apiKey), current: true },
    () => `Profile ${name} is kept and in use: ${baseUrl}, ${maskedKey(apiKey)}`,
  );
  return undefined;
}

async function addressFor({ environment, signal }: Context, args: ParsedArgs): Promise<string> {
  const said = args.text('base-url') ?? environment.baseUrl;
  if (said !== undefined) return readAddress(said);
  const usual = findDevStack(environment.folder)?.baseUrl;
  if (!canAsk()) {
    throw new UsageError('login needs --base-url', ['There is no terminal to ask on.']);
  }
  const typed = await ask(`Address of the API${usual === undefined ? '' : ` [${usual}]`}: `, signal);
  return readAddress(typed === '' ? (usual ?? '') : typed);
}

async function keyFor({ signal }: Context): Promise<string> {
  const typed = canAsk() ? await ask('API key (not shown): ', signal, true) : (await readStdin()).trim();
  if (typed === '') throw new UsageError('login needs a key: typed, from stdin, or by --api-key');
  return typed;
}

/** One harmless question. A key that may not ask it is a key all the same. */
export async function checkKey(
  connection: { readonly apiKey: string; readonly baseUrl: string },
  signal: AbortSignal,
): Promise<Awaited<ReturnType<ReturnType<typeof clientOf>['balance']['get']>> | null> {
  try {
    return await clientOf(connection).balance.get({ signal, maxRetries: 1 });
  } catch (error) {
    if (error instanceof ApiError && error.code === 'insufficient_scope') return null;
    throw error;
  }
}

async function logout({ screen, environment }: Context, args: ParsedArgs): Promise<undefined> {
  const kept = readProfiles(environment.configFile);
  const name = args.text('profile') ?? kept.current;
  if (name === null || kept.profiles[name] === undefined)
    throw new Fault(name === null ? 'no profile is in use' : `there is no profile "${name}"`, [
      'See: caudal profiles list',
    ]);
  const profiles = Object.fromEntries(Object.entries(kept.profiles).filter(([each]) => each !== name));
  writeProfiles(environment.configFile, { current: kept.current === name ? null : kept.current, profiles });
  screen.answer({ forgotten: name }, () => `Forgot profile ${name}.`);
  return undefined;
}

async function list({ screen, environment }: Context): Promise<undefined> {
  const { current, profiles } = readProfiles(environment.configFile);
  const rows = Object.entries(profiles).map(([name, { baseUrl, apiKey, simulatorUrl }]) => ({
    name,
    current: name === current,
    baseUrl,
    apiKey: maskedKey(apiKey),
    simulatorUrl: simulatorUrl ?? null,
  }));
  screen.answer({ data: rows }, () =>
    screen.table(
      [
        { title: '', text: (row) => (row.current ? '*' : '') },
        { title: 'PROFILE', text: ({ name }) => name },
        { title: 'ADDRESS', text: ({ baseUrl }) => baseUrl, least: 20 },
        { title: 'KEY', text: ({ apiKey }) => apiKey },
      ],
      rows,
      'No profiles. Keep one: caudal login',
    ),
  );
  return undefined;
}

async function use({ screen, environment }: Context, args: ParsedArgs): Promise<undefined> {
  const kept = readProfiles(environment.configFile);
  const name = args.word(0);
  if (kept.profiles[name] === undefined) {
    const known = Object.keys(kept.profiles);
    throw new Fault(`there is no profile "${name}"`, [
      known.length > 0 ? `There are: ${known.join(', ')}` : 'There are none yet: caudal login',
    ]);
  }
  writeProfiles(environment.configFile, { ...kept, current: name });
  screen.answer(
    { profile: name, current: true },
    () => `Using profile ${name}: ${kept.profiles[name]?.baseUrl}`,
  );
  return undefined;
}
