import { join } from 'node:path';
import { cloneFolder } from '../connection/dev-stack.ts';
import type { Command, Context } from '../framework/command.ts';
import { CliError } from '../framework/errors.ts';
import type { ExitCode } from '../framework/exit-codes.ts';
import type { ParsedArgs } from '../framework/parsed-args.ts';
import { runChildProcess } from '../server/child-process.ts';

export const DEV_COMMANDS: readonly Command[] = [
  {
    name: 'dev',
    section: 'start',
    summary:
      'run a complete local Caudal: database, simulated rails, server and an organization with an API key',
    options: [
      { name: 'fresh', value: null, summary: 'delete the data of earlier runs' },
      { name: 'data', value: 'DIR', summary: 'folder for data and logs (default: .data/dev)' },
      { name: 'any-ports', value: null, summary: 'use any free ports instead of the default ones' },
    ],
    args: [],
    details:
      'Runs in the foreground until Ctrl-C. Commands in another terminal, in the same clone, detect the stack and its API key.',
    examples: ['caudal dev', 'caudal dev --fresh'],
    run: dev,
  },
];

async function dev({ screen }: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const clone = cloneFolder();
  if (clone === null) {
    throw new CliError('not a clone of Caudal: dev starts the server from its source', [
      'Clone the repository, then run: npm ci && npm run dev',
    ]);
  }
  const data = args.text('data');
  const devArgs = [
    ...(args.flag('fresh') ? ['--fresh'] : []),
    ...(screen.json ? ['--json'] : []),
    ...(args.flag('any-ports') ? ['--any-ports'] : []),
    ...(data === undefined ? [] : ['--data', data]),
  ];
  return runChildProcess([join(clone, 'scripts', 'dev.ts'), ...devArgs]);
}
