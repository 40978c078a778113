import type { Command } from './command.ts';
import { completionScript } from './completion.ts';
import { serverCommands } from './server-commands.ts';
import { COMMANDS } from './tree.ts';

/** Apart from the tree, because it is about the tree. */
const COMPLETION: Command = {
  name: 'completion',
  section: 'start',
  summary: 'print a script that completes commands and options with Tab',
  options: [],
  words: [{ name: 'SHELL', summary: 'yours', choices: ['bash', 'zsh'] }],
  details: 'Put the line of the example into ~/.bashrc, or with zsh into ~/.zshrc.',
  examples: ['source <(caudal completion bash)'],
  run: async ({ screen }, args) => {
    const shell = args.word(0) === 'zsh' ? 'zsh' : 'bash';
    screen.print(completionScript(shell, [...ALL_COMMANDS, ...((await serverCommands()) ?? [])]));
    return undefined;
  },
};

/** Every command that is done here. */
export const ALL_COMMANDS: readonly Command[] = [...COMMANDS, COMPLETION];
