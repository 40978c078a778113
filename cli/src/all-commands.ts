import { COMMANDS } from './command-list.ts';
import type { Command } from './framework/command.ts';
import { completionScript } from './framework/completion.ts';
import { serverCommands } from './server/server-commands.ts';

/** Not in command-list.ts, because the script is generated from that list. */
const COMPLETION: Command = {
  name: 'completion',
  section: 'start',
  summary: 'print a shell completion script',
  options: [],
  args: [{ name: 'SHELL', summary: 'your shell', choices: ['bash', 'zsh'] }],
  details: 'Add the line from the example to ~/.bashrc (zsh: ~/.zshrc).',
  examples: ['source <(caudal completion bash)'],
  run: async ({ screen }, args) => {
    const shell = args.positional(0) === 'zsh' ? 'zsh' : 'bash';
    screen.print(completionScript(shell, [...ALL_COMMANDS, ...((await serverCommands()) ?? [])]));
    return undefined;
  },
};

/** Every command that the CLI runs itself; operator commands come from the server package. */
export const ALL_COMMANDS: readonly Command[] = [...COMMANDS, COMPLETION];
