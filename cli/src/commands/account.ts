import { apiKeyMode, maskApiKey } from '../connection/api-key.ts';
import { resolveConnection } from '../connection/connection.ts';
import type { Command, Context } from '../framework/command.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { formatCents } from '../requests/pesos.ts';
import { checkKey } from './profiles.ts';

export const ACCOUNT_COMMANDS: readonly Command[] = [
  {
    name: 'whoami',
    section: 'start',
    summary: 'show the base URL and API key in use, and check them',
    options: [],
    args: [],
    examples: ['caudal whoami'],
    run: whoami,
  },
];

async function whoami({ screen, environment, signal }: Context, args: ParsedArgs): Promise<undefined> {
  const connection = resolveConnection(environment, args);
  const { baseUrl, apiKey, source, simulatorUrl } = connection;
  const kind = apiKeyMode(apiKey);
  const fields = [
    ['base URL', baseUrl],
    ['API key', maskApiKey(apiKey)],
    ['from', source],
    [
      'kind',
      kind === 'live' ? screen.style('yellow', 'live: real money') : kind === 'test' ? 'test' : 'unknown',
    ],
    ['simulator', simulatorUrl],
  ] as const;
  const startedAt = performance.now();
  // Shown on failure too: these values are the likely cause.
  const balance = await checkKey(connection, signal).catch((error: unknown) => {
    screen.note(screen.fields(fields));
    throw error;
  });
  const milliseconds = Math.round(performance.now() - startedAt);
  screen.result(
    { baseUrl, apiKey: maskApiKey(apiKey), source, kind, simulatorUrl, accepted: true, balance },
    () =>
      screen.fields([
        ...fields,
        ['accepted', `yes, in ${milliseconds} ms`],
        [
          'available',
          balance
            ? `COP ${formatCents(balance.availableInCents)}`
            : 'not visible: the API key lacks balance:read',
        ],
      ]),
  );
  return undefined;
}
