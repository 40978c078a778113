import { join } from 'node:path';
import { runInOurPlace } from '../child.ts';
import type { Command, Context } from '../command.ts';
import { cloneFolder } from '../dev-stack.ts';
import { Fault } from '../errors.ts';
import type { ExitCode } from '../exit-codes.ts';
import type { ParsedArgs } from '../parsed-args.ts';

export const DEV_COMMANDS: readonly Command[] = [
  {
    name: 'dev',
    section: 'start',
    summary: 'a whole Caudal on this machine: database, rails, server and an organization with a key',
    options: [
      { name: 'fresh', value: null, summary: 'forget everything kept from earlier runs' },
      { name: 'data', value: 'DIR', summary: 'keep data and logs there instead of in .data/dev' },
      { name: 'any-ports', value: null, summary: 'take any free ports instead of the usual ones' },
    ],
    words: [],
    details:
      'Runs in the foreground until Ctrl-C. Other commands, typed in the same clone in another terminal, find it and its key by themselves.',
    examples: ['caudal dev', 'caudal dev --fresh'],
    run: dev,
  },
];

async function dev({ screen }: Context, args: ParsedArgs): Promise<ExitCode | undefined> {
  const clone = cloneFolder();
  if (clone === null) {
    throw new Fault(
      'this is not a clone of Caudal, and dev needs one: it starts the server from its source',
      ['Clone the repository, then: npm ci && npx caudal dev'],
    );
  }
  const data = args.text('data');
  const devArgs = [
    ...(args.flag('fresh') ? ['--fresh'] : []),
    ...(screen.json ? ['--json'] : []),
    ...(args.flag('any-ports') ? ['--any-ports'] : []),
    ...(data === undefined ? [] : ['--data', data]),
  ];
  return runInOurPlace([join(clone, 'scripts', 'dev.ts'), ...devArgs]);
}
