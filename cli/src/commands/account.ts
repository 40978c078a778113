import { environmentOf, maskedKey } from '../api-key.ts';
import type { Command, Context } from '../command.ts';
import { connectionOf } from '../connection.ts';
import type { ParsedArgs } from '../parsed-args.ts';
import { showCents } from '../pesos.ts';
import { checkKey } from './profiles.ts';

export const ACCOUNT_COMMANDS: readonly Command[] = [
  {
    name: 'whoami',
    section: 'start',
    summary: 'whom commands talk to, as whom, and whether that works',
    options: [],
    words: [],
    examples: ['caudal whoami'],
    run: whoami,
  },
];

async function whoami({ screen, environment, signal }: Context, args: ParsedArgs): Promise<undefined> {
  const connection = connectionOf(environment, args);
  const { baseUrl, apiKey, source, simulatorUrl } = connection;
  const kind = environmentOf(apiKey);
  const facts = [
    ['address', baseUrl],
    ['API key', maskedKey(apiKey)],
    ['from', source],
    [
      'kind',
      kind === 'live' ? screen.style('yellow', 'live: real money') : kind === 'test' ? 'test' : 'unknown',
    ],
    ['simulator', simulatorUrl],
  ] as const;
  const began = performance.now();
  // Said before the question too: when that fails, it is these that are wrong.
  const balance = await checkKey(connection, signal).catch((error: unknown) => {
    screen.note(screen.facts(facts));
    throw error;
  });
  const milliseconds = Math.round(performance.now() - began);
  screen.answer(
    { baseUrl, apiKey: maskedKey(apiKey), source, kind, simulatorUrl, accepted: true, balance },
    () =>
      screen.facts([
        ...facts,
        ['accepted', `yes, in ${milliseconds} ms`],
        [
          'available',
          balance ? `COP ${showCents(balance.availableInCents)}` : 'not for this key to see (balance:read)',
        ],
      ]),
  );
  return undefined;
}
